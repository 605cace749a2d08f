// CPU products with one short side, which read the other operand in place (skinny.cl), and small products.
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Multiplies with the vector kernel that suits the product, which may be gemm_packed. Returns false if the bias and the
// activation remain to be applied.
bool gemm_skinny(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
