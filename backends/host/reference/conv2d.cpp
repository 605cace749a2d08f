#include "sdk/ops/conv2d.hpp"

#include "reference/convolution.hpp"

namespace mokume::host::reference {

void conv2d(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), weight = call.input(1);
  const View<float> y = call.output();
  const bool relu = call.op.conv2d.activation == ops::Activation::relu;
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const int64_t channels = weight.columns, each = channels / w.groups;
  for (int64_t n = 0; n < x.rows; ++n)
    for (int64_t p = 0; p < w.out_pixels(); ++p)
      for (int64_t c = 0; c < channels; ++c) {
        double sum = bias != nullptr ? bias[c] : 0.0;
        for_window(w, p, c / std::max<int64_t>(each, 1),
                   [&](int64_t pixel, int64_t element) { sum += double{x.row(n)[pixel]} * weight.row(element)[c]; });
        y.row(n)[p * channels + c] = static_cast<float>(relu && sum < 0 ? 0.0 : sum);
      }
}

}  // namespace mokume::host::reference
