// The gradient of a bias: the sums over the rows of a matrix.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Computes out = sums, or out += sums if `first` is false.
void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first);

}  // namespace mokume::opencl
