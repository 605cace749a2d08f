#include "sdk/ops/avg_pool.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void avg_pool_grad(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const View<const float> grad = call.input(0);
  const View<float> dx = call.output();
  const auto covers = [](int64_t at, int64_t pixel, int64_t size, int64_t cells) {
    return pixel >= ops::avg_pool_begin(at, size, cells) && pixel < ops::avg_pool_end(at, size, cells);
  };
  const auto length = [](int64_t at, int64_t size, int64_t cells) {
    return ops::avg_pool_end(at, size, cells) - ops::avg_pool_begin(at, size, cells);
  };
  for (int64_t n = 0; n < dx.rows; ++n)
    for (int64_t i = 0; i < p.height; ++i)
      for (int64_t j = 0; j < p.width; ++j)
        for (int64_t k = 0; k < p.channels; ++k) {
          double sum = 0;
          for (int64_t y = 0; y < p.out_h; ++y)
            for (int64_t x = 0; x < p.out_w; ++x)
              if (covers(y, i, p.height, p.out_h) && covers(x, j, p.width, p.out_w))
                sum += static_cast<double>(grad.row(n)[(y * p.out_w + x) * p.channels + k]) /
                       static_cast<double>(length(y, p.height, p.out_h) * length(x, p.width, p.out_w));
          dx.row(n)[(i * p.width + j) * p.channels + k] = static_cast<float>(sum);
        }
}

}  // namespace mokume::host::reference
