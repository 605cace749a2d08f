#include "train/mixup.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

mk_tensor rows_of(const mk_tensor& t, int64_t first, int64_t count) {
  return sdk::matrix(t.buffer, count, t.columns, t.row_stride, t.offset + first * t.row_stride);
}

mk_tensor first_column(const mk_tensor& t) { return sdk::matrix(t.buffer, t.rows, 1, t.row_stride, t.offset); }

}  // namespace

// Uses the method of Joehnk, Erzeugung von betaverteilten und gammaverteilten Zufallszahlen, 1964, which accepts one of
// two pairs of numbers for alpha = 1, and one of 70 for alpha = 4.
double mixup_share(double alpha, uint64_t seed, uint32_t stream, int64_t batch) {
  constexpr uint64_t kPairs = uint64_t{1} << 20;
  const sdk::Random random(seed, sdk::Purpose::dropout, stream, 1);
  for (uint64_t k = 0; k < kPairs; ++k) {
    const uint64_t at = 2 * (uint64_t(batch) * kPairs + k);
    // Uses logarithms, because powers of a small alpha vanish.
    const double x = std::log(1 - random.uniform(at)) / alpha, y = std::log(1 - random.uniform(at + 1)) / alpha;
    const double largest = std::max(x, y), sum = largest + std::log(std::exp(x - largest) + std::exp(y - largest));
    if (sum <= 0) return std::exp(x - sum);
  }
  return 0.5;
}

Mixup::Mixup(const sdk::Device& device, int64_t rows, int64_t features, int64_t outputs, StackMemory& memory)
    : partners_(memory.take(rows * features)),
      gradient_(memory.take(rows * outputs)),
      results_(memory.take(rows * 2)),
      one_(memory.take(1)) {
  device.submit(ops::fill(one_.vector(1), 1.0F));
}

void Mixup::mix(const mk_tensor& x, double share, const Submit& submit) const {
  const mk_tensor before = partners_.matrix(x.rows, x.columns);
  const auto flat = [](const mk_tensor& t) { return sdk::vector(t.buffer, t.rows * t.columns, t.offset); };
  submit(ops::bias_act(flat(x), {}, ops::Activation::none, flat(before)));
  const auto add = [&](int64_t to, int64_t from, int64_t count) {
    if (count > 0)
      submit(ops::gemm(one_.matrix(1, 1), false, flat(rows_of(before, from, count)), false, flat(rows_of(x, to, count)),
                       float(1 - share), float(share)));
  };
  add(0, x.rows - 1, 1);
  add(1, 0, x.rows - 1);
}

void Mixup::add_partners(const mk_tensor& results, const mk_tensor& gradient, double share, int64_t begin,
                         const Loss& loss, const Submit& submit) const {
  const int64_t rows = results.rows;
  const mk_tensor more = results_.matrix(rows, 2), other = gradient_.matrix(rows, gradient.columns);
  const auto put = [&](int64_t first, int64_t count, int64_t place) {
    if (count > 0) submit(loss(first, count, place, rows_of(more, first, count), rows_of(other, first, count)));
  };
  put(0, 1, begin + rows - 1);
  put(1, rows - 1, begin);
  submit(ops::bias_act(gradient, other, ops::Activation::none, gradient));
  submit(ops::gemm(first_column(more), false, one_.matrix(1, 1), false, first_column(results), float(1 - share),
                   float(share)));
}

}  // namespace mokume::cnn
