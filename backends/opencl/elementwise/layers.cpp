#include "elementwise/layers.hpp"

#include "common/grid.hpp"
#include "elementwise/activations.embed.hpp"
#include "elementwise/elementwise_args.h"
#include "elementwise/layers.embed.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// Returns a kernel over rows of `columns` elements of these views.
const LibraryKernel& row_kernel(mk_device& device, const char* program, const char* source, const char* name,
                                int64_t columns, std::initializer_list<View> views) {
  return device.kernel(for_views(device, program, source, row_width(device, columns), views), name);
}

const LibraryKernel& layers_kernel(mk_device& device, const char* name, int64_t columns,
                                   std::initializer_list<View> views) {
  return row_kernel(device, "layers", kElementwiseLayers, name, columns, views);
}

const LibraryKernel& activations_kernel(mk_device& device, const char* name, int64_t columns,
                                        std::initializer_list<View> views) {
  return row_kernel(device, "activations", kElementwiseActivations, name, columns, views);
}

// Returns whether layers.cl has the activation; activations.cl has the remaining activations.
bool is_simple(const mk_op& op) { return op.bias_act.activation <= ops::Activation::relu; }

bool dense(const mk_tensor& t) { return t.rows <= 1 || t.row_stride == t.columns; }

mk_tensor as_one_row(const mk_tensor& t) {
  mk_tensor row = t;
  row.columns = row.row_stride = t.rows * t.columns;
  row.rows = 1;
  return row;
}

i32 is_relu(const mk_op& op) { return op.bias_act.activation == ops::Activation::relu ? 1 : 0; }

}  // namespace

void bias_act(Launcher& launcher, const mk_op& op) {
  mk_tensor x = op.inputs[0], out = op.outputs[0];
  if (sdk::empty(out)) return;
  const bool biased = op.n_inputs == 2;
  mk_tensor bias = biased ? op.inputs[1] : x;
  if ((!biased || bias.rows == out.rows) && dense(x) && dense(bias) && dense(out))
    for (mk_tensor* t : {&x, &bias, &out}) *t = as_one_row(*t);
  if (bias.rows <= 1) bias.row_stride = 0;
  mk_device& device = launcher.device();
  const RunLaunch l(device, out.rows, out.columns);
  if (!is_simple(op))
    return launcher.run(activations_kernel(device, "activate", out.columns, {view(x), view(bias), view(out)}), l.range,
                        ActivateArgs{.grid = l.grid,
                                     .x = view(x),
                                     .out = view(out),
                                     .bias = view(bias),
                                     .biased = biased ? 1 : 0,
                                     .kind = static_cast<i32>(op.bias_act.activation),
                                     .slope = static_cast<f32>(op.bias_act.slope),
                                     .reserved = 0},
                        {memory(x), memory(bias), memory(out)});
  launcher.run(layers_kernel(device, "bias_act", out.columns, {view(x), view(bias), view(out)}), l.range,
               BiasActArgs{.grid = l.grid,
                           .x = view(x),
                           .out = view(out),
                           .bias = view(bias),
                           .biased = biased ? 1 : 0,
                           .relu = is_relu(op)},
               {memory(x), memory(bias), memory(out)});
}

void act_grad(Launcher& launcher, const mk_op& op) {
  mk_tensor grad = op.inputs[0], y = op.inputs[1], dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  if (dense(grad) && dense(y) && dense(dx))
    for (mk_tensor* t : {&grad, &y, &dx}) *t = as_one_row(*t);
  mk_device& device = launcher.device();
  const RunLaunch l(device, dx.rows, dx.columns);
  if (!is_simple(op))
    return launcher.run(activations_kernel(device, "activation_grad", dx.columns, {view(grad), view(y), view(dx)}),
                        l.range,
                        ActivationGradArgs{.grid = l.grid,
                                           .grad = view(grad),
                                           .y = view(y),
                                           .dx = view(dx),
                                           .kind = static_cast<i32>(op.bias_act.activation),
                                           .slope = static_cast<f32>(op.bias_act.slope)},
                        {memory(grad), memory(y), memory(dx)});
  launcher.run(
      layers_kernel(device, "act_grad", dx.columns, {view(grad), view(y), view(dx)}), l.range,
      ActGradArgs{.grid = l.grid, .grad = view(grad), .y = view(y), .dx = view(dx), .relu = is_relu(op), .reserved = 0},
      {memory(grad), memory(y), memory(dx)});
}

void dropout(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const auto& [seed, layer, step, first_row] = op.dropout.place;
  mk_device& device = launcher.device();
  const RunLaunch l(device, out.rows, out.columns, 4);
  launcher.run(device.kernel(for_width("layers", kElementwiseLayers, run_width(device)), "dropout"), l.range,
               DropoutArgs{.grid = l.grid,
                           .x = view(x),
                           .out = view(out),
                           .threshold = ops::dropout_threshold(op),
                           .scale = ops::dropout_scale(op),
                           .key0 = static_cast<u32>(seed),
                           .key1 = static_cast<u32>(seed >> 32),
                           .layer = static_cast<u32>(layer),
                           .step = static_cast<u32>(step),
                           .first_row = static_cast<u32>(first_row),
                           .reserved = 0},
               {memory(x), memory(out)});
}

void affine_columns(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &scale = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const bool shifted = op.n_inputs == 3;
  const mk_tensor& shift = shifted ? op.inputs[2] : scale;
  mk_device& device = launcher.device();
  const RunLaunch l(device, out.rows, out.columns);
  launcher.run(
      layers_kernel(device, "affine_columns", out.columns, {view(x), view(out), {scale.offset, 0}, {shift.offset, 0}}),
      l.range,
      AffineColumnsArgs{.grid = l.grid,
                        .x = view(x),
                        .out = view(out),
                        .scale_offset = scale.offset,
                        .shift_offset = shift.offset,
                        .shifted = shifted ? 1 : 0,
                        .reserved = 0},
      {memory(x), memory(scale), memory(shift), memory(out)});
}

}  // namespace mokume::opencl
