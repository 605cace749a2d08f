// The gradient of a bias: sums over the rows of a matrix.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// out = the sums, or with `first` false, out += the sums.
void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first);

}  // namespace mokume::opencl
