#include "sdk/ops/avg_pool.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void avg_pool(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const ops::AvgSide rows = ops::down(p), columns = ops::across(p);
  const View<const float> in = call.input(0);
  const View<float> out = call.output();
  for (int64_t n = 0; n < in.rows; ++n)
    for (int64_t y = 0; y < p.out_h; ++y)
      for (int64_t x = 0; x < p.out_w; ++x)
        for (int64_t k = 0; k < p.channels; ++k) {
          double sum = 0;
          for (int64_t i = rows.begin(y); i < rows.end(y); ++i)
            for (int64_t j = columns.begin(x); j < columns.end(x); ++j)
              sum += in.row(n)[(i * p.width + j) * p.channels + k];
          const auto count = static_cast<double>(rows.count(y) * columns.count(x));
          out.row(n)[(y * p.out_w + x) * p.channels + k] = static_cast<float>(sum / count);
        }
}

}  // namespace mokume::host::reference
