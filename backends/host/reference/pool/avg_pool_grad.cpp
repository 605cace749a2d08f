#include "sdk/ops/avg_pool.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void avg_pool_grad(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const View<const float> grad = call.input(0);
  const View<float> dx = call.output();
  const ops::AvgSide rows = ops::down(p), columns = ops::across(p);
  const auto covers = [](const ops::AvgSide& side, int64_t at, int64_t pixel) {
    return pixel >= side.begin(at) && pixel < side.end(at);
  };
  for (int64_t n = 0; n < dx.rows; ++n)
    for (int64_t i = 0; i < p.height; ++i)
      for (int64_t j = 0; j < p.width; ++j)
        for (int64_t k = 0; k < p.channels; ++k) {
          double sum = 0;
          for (int64_t y = 0; y < p.out_h; ++y)
            for (int64_t x = 0; x < p.out_w; ++x)
              if (covers(rows, y, i) && covers(columns, x, j))
                sum += static_cast<double>(grad.row(n)[(y * p.out_w + x) * p.channels + k]) /
                       static_cast<double>(rows.count(y) * columns.count(x));
          dx.row(n)[(i * p.width + j) * p.channels + k] = static_cast<float>(sum);
        }
}

}  // namespace mokume::host::reference
