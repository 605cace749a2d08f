// Computes the softmax of rows, and its gradient.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void softmax(Launcher& launcher, const mk_op& op);
void softmax_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
