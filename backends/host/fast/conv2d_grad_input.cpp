#include "sdk/ops/conv2d.hpp"

#include "convolution/depthwise.hpp"
#include "convolution/gradients.hpp"
#include "convolution/patches.hpp"
#include "relu_of_grad.hpp"
#include "sdk/ops.hpp"

namespace mokume::host::fast {

namespace {

void grad_input(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const mk_tensor &dy = call.op.inputs[0], &weight = call.op.inputs[1], &dx = call.op.outputs[0];
  const auto run = [&](OpFunction function, const mk_op& op) { function(call.with(op)); };
  if (weight.columns == 0) return run(fill, ops::fill(dx, 0.0F));
  if (is_depthwise(w)) return depthwise_grad_input(call);
  if (grad_input_without_patches(call, w)) return;
  Patches patches(w, dx.rows);
  const int64_t each = side_by_side(dy) ? patches.images_each() : 1;
  for (int64_t first = 0; first < dx.rows; first += each) {
    const int64_t count = std::min(each, dx.rows - first);
    const mk_tensor grad = pixels_of(images_of(dy, first, count), weight.columns);
    for (int64_t g = 0; g < w.groups; ++g) {
      run(gemm, ops::gemm(filters_of(grad, w, g), false, filters_of(weight, w, g), true, patches.of(count)));
      fold(call, patches.data(), w, g, some_of(call.output(), first, count));
    }
  }
}

}  // namespace

void conv2d_grad_input(const Call& call) {
  grad_input(call);
  through_relu(call, act_grad);
}

}  // namespace mokume::host::fast
