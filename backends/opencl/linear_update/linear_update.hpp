// A fully connected layer's gradient and step in one: see sdk/ops/linear_update.hpp. This chooses the kernel; the head
// of each .cl file says what it is for.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void linear_update(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
