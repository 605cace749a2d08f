// The only place that calls oneDNN.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::host {

std::string onednn_version();  // "oneDNN 2.6.3"

// Returns the kernels oneDNN selects on this machine, for example "onednn-avx512". Results depend on it, and
// DNNL_MAX_CPU_ISA in the environment changes it.
std::string onednn_choice();

// Computes row-major out = alpha * op(a) * op(b) + beta * out on the calling thread alone. All sizes are > 0; strides
// are at least the number of columns. Returns false if oneDNN fails, which it does when memory runs out.
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
