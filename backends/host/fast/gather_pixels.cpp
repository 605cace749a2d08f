#include "sdk/ops/gather_pixels.hpp"

#include <algorithm>

#include "call.hpp"

namespace mokume::host::fast {

void gather_pixels(const Call& call) {
  const ops::PixelMap map = ops::pixel_map_of(call.op);
  const View<const float> x = call.input(0);
  const View<const int32_t> row = call.indices(1), column = call.indices(2);
  const View<float> out = call.output();
  call.for_rows(out.rows * map.out_h, map.out_w * map.channels, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) {
      const int64_t n = at / map.out_h, i = at % map.out_h;
      const float* line = x.row(n) + row.data[i] * map.width * map.channels;
      float* pixel = out.row(n) + i * map.out_w * map.channels;
      for (int64_t j = 0; j < map.out_w; ++j, pixel += map.channels)
        std::copy_n(line + column.data[j] * map.channels, map.channels, pixel);
    }
  });
}

}  // namespace mokume::host::fast
