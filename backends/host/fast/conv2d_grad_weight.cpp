#include "sdk/ops/conv2d.hpp"

#include "convolution/depthwise.hpp"
#include "convolution/gradients.hpp"
#include "convolution/patches.hpp"
#include "isa/channels.hpp"
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

// Sums the pixels in blocks, and then adds the blocks in order. If the images are not contiguous, every image begins a
// block.
void grad_bias(const Call& call, int64_t pixels, int64_t channels) {
  constexpr int64_t kBlock = 512;  // docs/explained/numbers.md
  const View<const float> dy = call.input(1);
  const View<float> out = call.output(1);
  const bool dense = side_by_side(call.op.inputs[1]);
  const int64_t of_run = dense ? dy.rows * pixels : pixels, blocks = (of_run + kBlock - 1) / kBlock;
  const int64_t all = dense ? blocks : dy.rows * blocks;
  std::vector<float> sums(static_cast<size_t>(all * channels));
  call.for_rows(all, kBlock * channels, [&](int64_t from, int64_t to) {
    for (int64_t b = from; b < to; ++b) {
      const int64_t first = b % blocks * kBlock;
      call.loops.channels->sum_rows(dy.row(b / blocks) + first * channels, std::min(kBlock, of_run - first), channels,
                                    channels, sums.data() + b * channels);
    }
  });
  std::fill_n(out.data, channels, 0.0F);
  for (int64_t b = 0; b < all; ++b) call.loops.network->add(out.data, sums.data() + b * channels, channels);
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
