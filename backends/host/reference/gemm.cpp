#include "sdk/ops/gemm.hpp"
#include "call.hpp"

namespace mokume::host::reference {

// Sums over k in ascending order in fp64 and rounds once. Processes columns in blocks only so that rows of b are read
// in memory order.
void gemm(const Call& call) {
  const View<const float> a = call.input(0), b = call.input(1);
  const View<float> out = call.output();
  const mk_gemm& gemm = call.op.gemm;
  const bool transpose_a = gemm.transpose_a != 0, transpose_b = gemm.transpose_b != 0;
  const double alpha = gemm.alpha, beta = gemm.beta;
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const bool relu = gemm.activation == ops::Activation::relu;
  const auto [m, n, k] = ops::gemm_shape(call.op);

  const auto row_block = [&, depth = k](int64_t r, int64_t from, int64_t count) {
    double sums[64] = {};
    for (int64_t i = 0; i < depth; ++i) {
      const double left = transpose_a ? a.row(i)[r] : a.row(r)[i];
      for (int64_t c = 0; c < count; ++c)
        sums[c] += left * static_cast<double>(transpose_b ? b.row(from + c)[i] : b.row(i)[from + c]);
    }
    float* result = out.row(r) + from;
    for (int64_t c = 0; c < count; ++c) {
      const double sum = alpha * sums[c] + (beta == 0 ? 0.0 : beta * static_cast<double>(result[c])) +
                         (bias == nullptr ? 0.0 : static_cast<double>(bias[from + c]));
      result[c] = relu && sum < 0 ? 0.0F : static_cast<float>(sum);  // this form lets a NaN pass through
    }
  };
  call.for_rows(m, n * std::max<int64_t>(1, k), [&, width = n](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t from = 0; from < width; from += 64) row_block(r, from, std::min<int64_t>(64, width - from));
  });
}

}  // namespace mokume::host::reference
