// Products of CPUs with one short side, which read the other operand where it lies: skinny.cl. And small products.
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Multiplies by the vector kernel that suits the product, gemm_packed included. False if the bias and the activation
// are left to do.
bool gemm_skinny(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
