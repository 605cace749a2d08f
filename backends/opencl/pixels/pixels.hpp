// Gathers pixels of images by the indices of their rows and columns.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void gather_pixels(Launcher& launcher, const mk_op& op);
void gather_pixels_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
