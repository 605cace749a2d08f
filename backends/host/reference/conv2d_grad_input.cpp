#include "sdk/ops/conv2d.hpp"

#include <vector>

#include "reference/convolution.hpp"
#include "relu_of_grad.hpp"

namespace mokume::host::reference {

namespace {

void grad_input(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> dy = call.input(0), weight = call.input(1);
  const View<float> dx = call.output();
  const int64_t channels = weight.columns, each = channels / w.groups;
  std::vector<double> sums(static_cast<size_t>(w.image()));
  for (int64_t n = 0; n < dx.rows; ++n) {
    sums.assign(sums.size(), 0.0);
    for (int64_t p = 0; p < w.out_pixels(); ++p)
      for (int64_t g = 0; g < w.groups; ++g)
        for_window(w, p, g, [&](int64_t pixel, int64_t element) {
          double sum = 0;
          for (int64_t c = g * each; c < (g + 1) * each; ++c)
            sum += double{dy.row(n)[p * channels + c]} * weight.row(element)[c];
          sums[static_cast<size_t>(pixel)] += sum;
        });
    for (int64_t e = 0; e < w.image(); ++e) dx.row(n)[e] = static_cast<float>(sums[static_cast<size_t>(e)]);
  }
}

}  // namespace

void conv2d_grad_input(const Call& call) {
  grad_input(call);
  through_relu(call, act_grad);
}

}  // namespace mokume::host::reference
