#include "sdk/ops/conv2d.hpp"

#include "convolution/depthwise.hpp"
#include "convolution/gradients.hpp"
#include "convolution/patches.hpp"
#include "isa/network.hpp"
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

// Each column is one chain of additions over all images, whatever the number of threads.
void grad_bias(const Call& call, int64_t pixels, int64_t channels) {
  const View<const float> dy = call.input(1);
  const auto some = [&](uint64_t index) {
    const int64_t first = static_cast<int64_t>(index) * kSummedColumns;
    const int64_t columns = std::min(kSummedColumns, channels - first);
    double sums[kSummedColumns] = {};
    for (int64_t n = 0; n < dy.rows; ++n)
      call.loops.network->column_sums(dy.row(n) + first, pixels, columns, channels, sums);
    for (int64_t c = 0; c < columns; ++c) call.output(1).data[first + c] = static_cast<float>(sums[c]);
  };
  call.parallel_for(static_cast<uint64_t>((channels + kSummedColumns - 1) / kSummedColumns), some);
}

}  // namespace

void conv2d_grad_weight(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const int64_t channels = call.op.outputs[0].columns;
  if (is_depthwise(w) && channels > 0)
    depthwise_grad_weight(call);
  else if (!grad_weight_without_patches(call, w))
    by_patches(call, w);
  if (call.op.n_outputs < 2) return;
  grad_bias(call, w.out_pixels(), channels);
}

}  // namespace mokume::host::fast
