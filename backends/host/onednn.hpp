// Calls oneDNN, which no other file does.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::host {

std::string onednn_version();  // returns, for example, "oneDNN 2.6.3"

void limit_onednn();  // keeps oneDNN within sdk::widest_isa(), which must come before the first product

// Returns the name of the kernels that oneDNN selects on this machine, for example "onednn-avx512". Results depend on
// the kernels, and DNNL_MAX_CPU_ISA in the environment changes them.
std::string onednn_choice();

// Computes row-major out = alpha * op(a) * op(b) + beta * out on the calling thread alone. All sizes are positive, and
// strides are at least the number of columns. Returns false if oneDNN fails, which it does when memory runs out.
struct SgemmTile {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  float alpha;
  const float* a;
  int64_t stride_a;
  const float* b;
  int64_t stride_b;
  float beta;
  float* out;
  int64_t stride_out;
};
bool sgemm(const SgemmTile& tile) noexcept;

}  // namespace mokume::host
