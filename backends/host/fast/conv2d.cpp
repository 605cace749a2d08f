#include "sdk/ops/conv2d.hpp"

#include "convolution/convolution.hpp"
#include "convolution/depthwise.hpp"
#include "convolution/patches.hpp"
#include "sdk/ops.hpp"

namespace mokume::host::fast {

void conv2d(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const mk_tensor &x = call.op.inputs[0], &weight = call.op.inputs[1], &y = call.op.outputs[0];
  if (is_depthwise(w) && weight.columns > 0) return depthwise(call);
  if (is_without_patches(call, weight.columns)) return convolve_without_patches(call, convolution_of(call));
  const mk_tensor bias = call.op.n_inputs == 3 ? call.op.inputs[2] : mk_tensor{};
  const auto activation = call.op.conv2d.activation;
  const auto run = [&](OpFunction function, const mk_op& op) { function(call.with(op)); };
  Patches patches(w, x.rows);
  const int64_t each = side_by_side(y) ? patches.images_each() : 1;
  for (int64_t first = 0; first < x.rows; first += each) {
    const int64_t count = std::min(each, x.rows - first);
    const mk_tensor out = pixels_of(images_of(y, first, count), weight.columns);
    for (int64_t g = 0; g < w.groups; ++g) {
      unfold(call, some_of(call.input(0), first, count), w, g, patches.data());
      run(gemm, ops::gemm_bias_act(patches.of(count), filters_of(weight, w, g), filters_of(bias, w, g), activation,
                                   filters_of(out, w, g)));
    }
  }
}

}  // namespace mokume::host::fast
