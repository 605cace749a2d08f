// Computes the gradient and the step of a fully connected layer in one op (sdk/ops/linear_update.hpp). Selects the
// kernel; the head of each .cl file describes its purpose.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void linear_update(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
