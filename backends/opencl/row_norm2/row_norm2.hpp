// Computes the sums of squares of rows.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void row_norm2(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
