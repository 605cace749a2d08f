#include "sdk/ops/avg_pool.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void avg_pool(const Call& call) {
  const ops::AvgPool p = ops::avg_pool_of(call.op);
  const View<const float> in = call.input(0);
  const View<float> out = call.output();
  for (int64_t n = 0; n < in.rows; ++n)
    for (int64_t y = 0; y < p.out_h; ++y)
      for (int64_t x = 0; x < p.out_w; ++x)
        for (int64_t k = 0; k < p.channels; ++k) {
          double sum = 0;
          int64_t count = 0;
          for (int64_t i = ops::avg_pool_begin(y, p.height, p.out_h); i < ops::avg_pool_end(y, p.height, p.out_h); ++i)
            for (int64_t j = ops::avg_pool_begin(x, p.width, p.out_w); j < ops::avg_pool_end(x, p.width, p.out_w);
                 ++j, ++count)
              sum += in.row(n)[(i * p.width + j) * p.channels + k];
          out.row(n)[(y * p.out_w + x) * p.channels + k] = static_cast<float>(sum / static_cast<double>(count));
        }
}

}  // namespace mokume::host::reference
