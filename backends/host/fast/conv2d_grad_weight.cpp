#include "sdk/ops/conv2d.hpp"

#include "convolution/depthwise.hpp"
#include "convolution/patches.hpp"
#include "sdk/ops.hpp"

namespace mokume::host::fast {

namespace {

void by_patches(const Call& call, const ops::Window& w) {
  const mk_tensor &x = call.op.inputs[0], &dy = call.op.inputs[1], &dweight = call.op.outputs[0];
  const auto run = [&](OpFunction function, const mk_op& op) { function(call.with(op)); };
  Patches patches(w, x.rows);
  const int64_t each = side_by_side(dy) ? patches.images_each() : 1;
  if (x.rows == 0) run(fill, ops::fill(dweight, 0.0F));
  for (int64_t first = 0; first < x.rows; first += each) {
    const int64_t count = std::min(each, x.rows - first);
    const mk_tensor grad = pixels_of(images_of(dy, first, count), dweight.columns);
    for (int64_t g = 0; g < w.groups; ++g) {
      unfold(call, some_of(call.input(0), first, count), w, g, patches.data());
      run(gemm, ops::gemm(patches.of(count), true, filters_of(grad, w, g), false, filters_of(dweight, w, g), 1.0F,
                          first == 0 ? 0.0F : 1.0F));
    }
  }
}

}  // namespace

void conv2d_grad_weight(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const int64_t channels = call.op.outputs[0].columns;
  if (is_depthwise(w) && channels > 0)
    depthwise_grad_weight(call);
  else
    by_patches(call, w);
  if (call.op.n_outputs < 2) return;
  std::vector<double> sums(static_cast<size_t>(channels));
  const View<const float> rows = call.input(1);
  for (int64_t n = 0; n < rows.rows; ++n)
    for (int64_t p = 0; p < w.out_pixels(); ++p)
      for (int64_t c = 0; c < channels; ++c) sums[static_cast<size_t>(c)] += rows.row(n)[p * channels + c];
  for (int64_t c = 0; c < channels; ++c) call.output(1).data[c] = static_cast<float>(sums[static_cast<size_t>(c)]);
}

}  // namespace mokume::host::fast
