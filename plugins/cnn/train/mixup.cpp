#include "train/mixup.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/ops/affine_columns.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/philox.hpp"
#include "sdk/portable.hpp"

namespace mokume::cnn {
namespace {

mk_tensor rows_of(const mk_tensor& t, int64_t first, int64_t count) {
  return sdk::matrix(t.buffer, count, t.columns, t.row_stride, t.offset + first * t.row_stride);
}

mk_tensor flat(const mk_tensor& t) { return sdk::vector(t.buffer, t.rows * t.columns, t.offset); }

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
    const double x = sdk::portable::log(1 - random.uniform(at)) / alpha,
                 y = sdk::portable::log(1 - random.uniform(at + 1)) / alpha;
    const double largest = std::max(x, y),
                 sum = largest + sdk::portable::log(sdk::portable::exp(x - largest) + sdk::portable::exp(y - largest));
    if (sum <= 0) return sdk::portable::exp(x - sum);
  }
  return 0.5;
}

CutBox cutmix_box(double alpha, const Shape& image, uint64_t seed, uint32_t stream, int64_t batch) {
  const double side = std::sqrt(1 - mixup_share(alpha, seed, stream, batch));
  const sdk::Random random(seed, sdk::Purpose::dropout, stream, 2);
  const auto cut = [&](int64_t size, uint64_t at, int64_t& begin, int64_t& length) {
    const auto middle = int64_t(random.uniform(at) * double(size)), half = int64_t(0.5 * side * double(size));
    begin = std::max<int64_t>(0, middle - half);
    length = std::min(size, middle + half) - begin;
  };
  CutBox box;
  cut(image.height, 2 * uint64_t(batch), box.top, box.height);
  cut(image.width, 2 * uint64_t(batch) + 1, box.left, box.width);
  return box;
}

Mixup::Mixup(const sdk::Device& device, int64_t rows, int64_t features, int64_t outputs, StackMemory& memory)
    : partners_(memory.take(rows * features)),
      gradient_(memory.take(rows * outputs)),
      results_(memory.take(rows * 2)),
      one_(memory.take(1)),
      inside_(memory.take(features)),
      outside_(memory.take(features)) {
  device.submit(ops::fill(one_.vector(1), 1.0F));
}

void Mixup::mix(const mk_tensor& x, double share, const Submit& submit) const {
  const mk_tensor before = partners_.matrix(x.rows, x.columns);
  submit(ops::bias_act(flat(x), {}, ops::Activation::none, flat(before)));
  const auto add = [&](int64_t to, int64_t from, int64_t count) {
    if (count > 0)
      submit(ops::gemm(one_.matrix(1, 1), false, flat(rows_of(before, from, count)), false, flat(rows_of(x, to, count)),
                       float(1 - share), float(share)));
  };
  add(0, x.rows - 1, 1);
  add(1, 0, x.rows - 1);
}

// Multiplies the images by 0 in the box, and their partners by 0 outside of it, so that the number of ops does not
// depend on the size of the box.
void Mixup::cut(const mk_tensor& x, const Shape& image, const CutBox& box, const Submit& submit) const {
  if (box.height * box.width == 0) return;
  const auto mask = [&](const Slice& to, float inside) {
    const mk_tensor all = to.vector(image.elements());
    submit(ops::fill(all, 1 - inside));
    const int64_t line = image.width * image.channels, first = box.top * line + box.left * image.channels;
    submit(
        ops::fill(sdk::matrix(all.buffer, box.height, box.width * image.channels, line, all.offset + first), inside));
    return all;
  };
  const mk_tensor partners = partners_.matrix(x.rows, x.columns);
  submit(ops::affine_columns(x, mask(inside_, 1), {}, partners));
  submit(ops::affine_columns(x, mask(outside_, 0), {}, x));
  const auto add = [&](int64_t to, int64_t from, int64_t count) {
    if (count == 0) return;
    const mk_tensor rows = rows_of(x, to, count);
    submit(ops::bias_act(rows, rows_of(partners, from, count), ops::Activation::none, rows));
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
