// Ops between the products of a network: activations, dropout, losses and optimizers.
#include <cmath>

#include "common/common.embed.hpp"
#include "elementwise/layers.embed.hpp"
#include "loss/loss.embed.hpp"
#include "common/math.embed.hpp"
#include "ops.hpp"
#include "optimizer/optimizer.embed.hpp"
#include "common/runs.embed.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/vector.embed.hpp"

namespace mokume::opencl {
namespace {

std::string layers_source() { return std::string(k_common_common) + k_common_vector + k_common_runs + k_elementwise_layers; }
std::string losses_source() { return std::string(k_common_common) + k_common_vector + k_common_math + k_common_runs + k_loss_loss; }
std::string optimizer_source() { return std::string(k_common_common) + k_common_vector + k_common_runs + k_optimizer_optimizer; }

cl_kernel layers_kernel(mk_device& device, int width, const char* name) {
  return device.kernel(for_width(device, "layers", layers_source, width), name);
}

bool dense(const mk_tensor& t) { return t.rows <= 1 || t.row_stride == t.columns; }

mk_tensor as_one_row(const mk_tensor& t) {
  mk_tensor row = t;
  row.columns = row.row_stride = t.rows * t.columns;
  row.rows = 1;
  return row;
}

int32_t is_relu(const mk_op& op) { return op.integers[0] == static_cast<int64_t>(ops::Activation::relu) ? 1 : 0; }

float rounded(double value) { return static_cast<float>(value); }

}  // namespace

void bias_act(Launcher& launcher, const mk_op& op) {
  mk_tensor x = op.inputs[0], out = op.outputs[0];
  if (sdk::empty(out)) return;
  const bool biased = op.n_inputs == 2;
  if (!biased && dense(x) && dense(out)) {
    x = as_one_row(x);
    out = as_one_row(out);
  }
  const mk_tensor& bias = biased ? op.inputs[1] : x;
  run_over(launcher, layers_kernel(launcher.device(), row_width(launcher.device(), out.columns), "bias_act"),
           share(launcher.device(), out.rows, out.columns), out, memory(x), x.offset, x.row_stride, memory(bias),
           bias.offset, static_cast<int32_t>(biased), memory(out), out.offset, out.row_stride, is_relu(op));
}

void act_grad(Launcher& launcher, const mk_op& op) {
  mk_tensor grad = op.inputs[0], y = op.inputs[1], dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  if (dense(grad) && dense(y) && dense(dx))
    for (mk_tensor* t : {&grad, &y, &dx}) *t = as_one_row(*t);
  run_over(launcher, layers_kernel(launcher.device(), row_width(launcher.device(), dx.columns), "act_grad"),
           share(launcher.device(), dx.rows, dx.columns), dx, memory(grad), grad.offset, grad.row_stride, memory(y),
           y.offset, y.row_stride, memory(dx), dx.offset, dx.row_stride, is_relu(op));
}

void dropout(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const auto seed = static_cast<uint64_t>(op.integers[0]);
  run_over(launcher, layers_kernel(launcher.device(), run_width(launcher.device()), "dropout"),
           share(launcher.device(), out.rows, out.columns, 4), out, memory(x), x.offset, x.row_stride, memory(out),
           out.offset, out.row_stride, ops::dropout_threshold(op), ops::dropout_scale(op), static_cast<uint32_t>(seed),
           static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(op.integers[1]),
           static_cast<uint32_t>(op.integers[2]), static_cast<uint32_t>(op.integers[3]));
}

void affine_columns(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &scale = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const bool shifted = op.n_inputs == 3;
  const mk_tensor& shift = shifted ? op.inputs[2] : scale;
  run_over(launcher, layers_kernel(launcher.device(), row_width(launcher.device(), out.columns), "affine_columns"),
           share(launcher.device(), out.rows, out.columns), out, memory(x), x.offset, x.row_stride, memory(scale),
           scale.offset, memory(shift), shift.offset, static_cast<int32_t>(shifted), memory(out), out.offset,
           out.row_stride);
}

namespace {

// Runs a loss: one work-item does some rows on CPUs, whole vectors of them, and one on GPUs.
template <class... Arguments>
void run_loss(Launcher& launcher, const char* name, const mk_op& op, const Arguments&... arguments) {
  constexpr int64_t kLanes = 16;
  mk_device& device = launcher.device();
  const mk_tensor& x = op.inputs[0];
  const int64_t rows_each = wide(device) ? divide_up(512, x.columns * kLanes) * kLanes : 1;
  const int64_t group = wide(device) ? 1 : 32;
  launcher.run(device.kernel(for_width(device, "losses", losses_source, run_width(device)), name),
               {divide_up(x.rows, rows_each), 1, 1}, {group, 1, 1}, x.rows, x.columns, rows_each, memory(x), x.offset,
               x.row_stride, arguments...);
}

// Where the gradient goes; without one, memory that the kernel leaves alone.
const mk_tensor& gradient_of(const mk_op& op) { return op.outputs[op.n_outputs == 2 ? 1 : 0]; }

}  // namespace

void softmax_loss(Launcher& launcher, const mk_op& op) {
  const mk_tensor &label = op.inputs[1], &index = op.inputs[2], &rows = op.outputs[0], &grad = gradient_of(op);
  if (sdk::empty(rows)) return;
  // Of no labels, every index is outside.
  const cl_mem labels = sdk::empty(label) ? memory(index) : memory(label);
  constexpr int64_t kShortRow = 64;  // SHORT_ROW of losses.cl
  const bool by_lanes = wide(launcher.device()) && op.inputs[0].columns <= kShortRow;
  run_loss(launcher, by_lanes ? "softmax_loss_short" : "softmax_loss", op, labels, label.offset, label.columns,
           memory(index), index.offset, memory(rows), rows.offset, rows.row_stride,
           static_cast<int32_t>(op.n_outputs == 2), memory(grad), grad.offset, grad.row_stride, rounded(op.reals[0]));
}

void squared_loss(Launcher& launcher, const mk_op& op) {
  const mk_tensor &target = op.inputs[1], &index = op.inputs[2], &rows = op.outputs[0], &grad = gradient_of(op);
  if (sdk::empty(rows)) return;
  const cl_mem targets = sdk::empty(target) ? memory(index) : memory(target);
  const auto columns = static_cast<double>(op.inputs[0].columns);
  run_loss(launcher, "squared_loss", op, targets, target.offset, target.row_stride, target.rows, memory(index),
           index.offset, memory(rows), rows.offset, rows.row_stride, static_cast<int32_t>(op.n_outputs == 2),
           memory(grad), grad.offset, grad.row_stride, rounded(1 / columns), rounded(2 * op.reals[0] / columns));
}

void optimizer_step(Launcher& launcher, const mk_op& op) {
  const mk_tensor &grad = op.inputs[0], &weight = op.outputs[0], &state = op.outputs[1], &state2 = op.outputs[2];
  if (sdk::empty(weight)) return;
  const ops::OptimizerSettings o = ops::optimizer_of(op);
  const auto t = static_cast<double>(op.integers[1]);
  const float lr = rounded(o.lr), decay = rounded(o.weight_decay), a = rounded(o.a), one_minus_a = rounded(1 - o.a),
              eps = rounded(o.eps);
  const auto run = [&](const char* name, const auto&... arguments) {
    mk_device& device = launcher.device();
    run_over(launcher, device.kernel(for_width(device, "optimizer", optimizer_source, run_width(device)), name),
             share(device, 1, weight.columns), weight, memory(grad), grad.offset, memory(weight), weight.offset,
             arguments...);
  };
  switch (o.kind) {
    case ops::Optimizer::sgd:
      if (o.states() == 0) return run("sgd", lr, decay);
      return run("sgd_momentum", memory(state), state.offset, lr, decay, a, static_cast<int32_t>(t == 1));
    case ops::Optimizer::adam:
      return run("adam", memory(state), state.offset, memory(state2), state2.offset, decay, a, one_minus_a,
                 rounded(o.b), rounded(1 - o.b), eps, rounded(o.lr / (1 - std::pow(o.a, t))),
                 rounded(1 / std::sqrt(1 - std::pow(o.b, t))));
    case ops::Optimizer::rmsprop:
      if (o.states() == 1) return run("rmsprop", memory(state), state.offset, lr, decay, a, one_minus_a, eps);
      return run("rmsprop_momentum", memory(state), state.offset, memory(state2), state2.offset, lr, decay, a,
                 one_minus_a, eps, rounded(o.b));
    case ops::Optimizer::adadelta:
      return run("adadelta", memory(state), state.offset, memory(state2), state2.offset, lr, decay, a, one_minus_a,
                 eps);
  }
}

}  // namespace mokume::opencl
