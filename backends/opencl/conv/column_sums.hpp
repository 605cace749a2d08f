// Sums rows of a matrix, for the gradient of a bias, and parts of a gradient of weights.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Sets out to the sums of the columns of x, or adds them to out if `first` is false.
void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first);

// Sets out to the sum of matrices of its shape, which follow each other in `parts`, in order. Unless `fresh`, adds them
// to what out holds.
void sum_parts(Launcher& launcher, cl_mem parts, int64_t count, const mk_tensor& out, bool fresh);

}  // namespace mokume::opencl
