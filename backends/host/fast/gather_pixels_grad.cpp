#include <algorithm>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/gather_pixels.hpp"

namespace mokume::host::fast {

void gather_pixels_grad(const Call& call) {
  const ops::PixelMap map = ops::pixel_map_of(call.op);
  const View<const float> grad = call.input(0);
  const View<const int32_t> row = call.indices(1), column = call.indices(2);
  const View<float> dx = call.output();
  const auto line = [&](int64_t n, int64_t y) {
    float* sums = dx.row(n) + y * map.width * map.channels;
    std::fill_n(sums, map.width * map.channels, 0.0F);
    for (int64_t i = 0; i < map.out_h; ++i) {
      if (row.data[i] != y) continue;
      const float* from = grad.row(n) + i * map.out_w * map.channels;
      for (int64_t j = 0; j < map.out_w; ++j)
        call.loops.network->add(sums + column.data[j] * map.channels, from + j * map.channels, map.channels);
    }
  };
  call.for_rows(dx.rows * map.height, map.out_w * map.channels, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / map.height, at % map.height);
  });
}

}  // namespace mokume::host::fast
