// The one place that talks to oneDNN.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::host {

std::string onednn_version();  // "oneDNN 2.6.3"

// "onednn-avx512": the kernels oneDNN picks on this machine. Part of what results depend on: DNNL_MAX_CPU_ISA in the
// environment changes it.
std::string onednn_choice();

// Row-major out = alpha * op(a) * op(b) + beta * out on the calling thread alone. All sizes > 0; strides are at least
// the columns. Returns false where oneDNN fails, which it does for want of memory.
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
