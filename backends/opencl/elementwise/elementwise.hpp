// Runs ops that access each element of a matrix once and are not specific to networks.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void fill(Launcher& launcher, const mk_op& op);
void kernel_map(Launcher& launcher, const mk_op& op);
void gather_rows(Launcher& launcher, const mk_op& op);

// Computes view = keep * view, which is 0 for keep = 0.
void scale(Launcher& launcher, const mk_tensor& view, float keep);

}  // namespace mokume::opencl
