#include "sdk/ops/avg_pool.hpp"

#include <algorithm>

#include "call.hpp"
#include "fast/pool/shares.hpp"

namespace mokume::host::fast {

void avg_pool(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const ops::AvgSide rows = ops::down(p), columns = ops::across(p);
  const View<const float> in = call.input(0);
  const View<float> out = call.output();
  const NetworkLoops& loops = *call.loops.network;
  const std::vector<float> shares = shares_of(call, p);
  const auto cell = [&](int64_t n, int64_t y, int64_t x) {
    const int64_t bottom = rows.end(y), left = columns.begin(x), right = columns.end(x);
    float* mean = out.row(n) + (y * p.out_w + x) * p.channels;
    std::fill_n(mean, p.channels, 0.0F);
    for (int64_t i = rows.begin(y); i < bottom; ++i)
      for (int64_t j = left; j < right; ++j) loops.add(mean, in.row(n) + (i * p.width + j) * p.channels, p.channels);
    loops.scale(mean, shares[static_cast<size_t>(y * p.out_w + x)], p.channels);
  };
  call.for_rows(in.rows * p.out_h, p.image() / p.out_h + p.out_w * p.channels, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at)
      for (int64_t x = 0; x < p.out_w; ++x) cell(at / p.out_h, at % p.out_h, x);
  });
}

}  // namespace mokume::host::fast
