#include "sdk/ops/gather_pixels.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void gather_pixels(const Call& call) {
  const ops::PixelMap map = ops::pixel_map_of(call.op);
  const View<const float> x = call.input(0);
  const View<const int32_t> row = call.indices(1), column = call.indices(2);
  const View<float> out = call.output();
  for (int64_t n = 0; n < out.rows; ++n)
    for (int64_t i = 0; i < map.out_h; ++i)
      for (int64_t j = 0; j < map.out_w; ++j)
        for (int64_t k = 0; k < map.channels; ++k)
          out.row(n)[(i * map.out_w + j) * map.channels + k] =
              x.row(n)[(row.data[i] * map.width + column.data[j]) * map.channels + k];
}

}  // namespace mokume::host::reference
