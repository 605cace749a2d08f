#include <algorithm>

#include "call.hpp"
#include "fast/pool/shares.hpp"

namespace mokume::host::fast {

void avg_pool_grad(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const ops::AvgSide rows = ops::down(p), columns = ops::across(p);
  const View<const float> grad = call.input(0);
  const View<float> dx = call.output();
  const NetworkLoops& loops = *call.loops.network;
  const std::vector<float> shares = shares_of(call, p);
  const auto line = [&](int64_t n, int64_t i) {
    float* sums = dx.row(n) + i * p.width * p.channels;
    std::fill_n(sums, p.width * p.channels, 0.0F);
    for (int64_t y = 0; y < p.out_h; ++y) {
      if (i < rows.begin(y) || i >= rows.end(y)) continue;
      for (int64_t x = 0; x < p.out_w; ++x) {
        const float share = shares[static_cast<size_t>(y * p.out_w + x)];
        for (int64_t j = columns.begin(x); j < columns.end(x); ++j)
          loops.add_scaled(sums + j * p.channels, grad.row(n) + (y * p.out_w + x) * p.channels, share, p.channels);
      }
    }
  };
  call.for_rows(dx.rows * p.height, (p.width + p.out_w) * p.channels, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / p.height, at % p.height);
  });
}

}  // namespace mokume::host::fast
