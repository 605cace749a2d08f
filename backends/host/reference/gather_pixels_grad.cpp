#include <algorithm>
#include <vector>

#include "call.hpp"
#include "sdk/ops/gather_pixels.hpp"

namespace mokume::host::reference {

void gather_pixels_grad(const Call& call) {
  const ops::PixelMap map = ops::pixel_map_of(call.op);
  const View<const float> grad = call.input(0);
  const View<const int32_t> row = call.indices(1), column = call.indices(2);
  const View<float> dx = call.output();
  std::vector<double> sums(static_cast<size_t>(map.image()));
  for (int64_t n = 0; n < dx.rows; ++n) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t i = 0; i < map.out_h; ++i)
      for (int64_t j = 0; j < map.out_w; ++j)
        for (int64_t k = 0; k < map.channels; ++k)
          sums[static_cast<size_t>((row.data[i] * map.width + column.data[j]) * map.channels + k)] +=
              static_cast<double>(grad.row(n)[(i * map.out_w + j) * map.channels + k]);
    std::transform(sums.begin(), sums.end(), dx.row(n), [](double sum) { return static_cast<float>(sum); });
  }
}

}  // namespace mokume::host::reference
