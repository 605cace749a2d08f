// Multiplies the pixels of images by factors, and computes the gradient of the factors.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void multiply(Launcher& launcher, const mk_op& op);
void multiply_grad_factor(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
