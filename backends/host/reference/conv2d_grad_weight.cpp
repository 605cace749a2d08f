#include "sdk/ops/conv2d.hpp"

#include <vector>

#include "reference/convolution.hpp"

namespace mokume::host::reference {

void conv2d_grad_weight(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), dy = call.input(1);
  const View<float> dweight = call.output();
  const int64_t channels = dweight.columns, each = channels / w.groups;
  std::vector<double> sums(static_cast<size_t>(w.patch() * channels)), bias(static_cast<size_t>(channels));
  for (int64_t n = 0; n < x.rows; ++n)
    for (int64_t p = 0; p < w.out_pixels(); ++p) {
      const float* grad = dy.row(n) + p * channels;
      for (int64_t c = 0; c < channels; ++c) bias[static_cast<size_t>(c)] += grad[c];
      for (int64_t g = 0; g < w.groups; ++g)
        for_window(w, p, g, [&](int64_t pixel, int64_t element) {
          double* row = sums.data() + element * channels;
          for (int64_t c = g * each; c < (g + 1) * each; ++c) row[c] += double{x.row(n)[pixel]} * grad[c];
        });
    }
  for (int64_t e = 0; e < w.patch(); ++e)
    for (int64_t c = 0; c < channels; ++c)
      dweight.row(e)[c] = static_cast<float>(sums[static_cast<size_t>(e * channels + c)]);
  if (call.op.n_outputs < 2) return;
  for (int64_t c = 0; c < channels; ++c) call.output(1).data[c] = static_cast<float>(bias[static_cast<size_t>(c)]);
}

}  // namespace mokume::host::reference
