// Computes products of matrices as docs/explained/numbers.md defines gemm. The bits depend on nothing but a row of a, a
// column of b and their length.
#pragma once

#include "call.hpp"

namespace mokume::host {

// Describes out = activation(alpha * op(a) * op(b) + beta * out + bias) with k > 0 terms, as in sdk/ops/gemm.hpp.
struct StrictProduct {
  bool transpose_a, transpose_b;
  float alpha, beta;
  int64_t k;
  View<const float> a, b;
  View<float> out;
  const float* bias = nullptr;  // null if there is none
  bool relu = false;
};

// Throws Error(MK_OUT_OF_MEMORY) if there is no memory to pack parts of the operands.
void multiply_strictly(const Call& call, const StrictProduct& product);

}  // namespace mokume::host
