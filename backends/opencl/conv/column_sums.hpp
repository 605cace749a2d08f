// Computes the gradient of a bias, which is the sum of the rows of a matrix.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Sets out to the sums of the columns of x, or adds them to out if `first` is false.
void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first);

}  // namespace mokume::opencl
