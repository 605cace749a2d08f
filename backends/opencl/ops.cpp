#include "ops.hpp"

#include <algorithm>

#include "common/common.embed.hpp"
#include "elementwise/elementwise.embed.hpp"
#include "common/math.embed.hpp"
#include "row_norm2/row_norm2.embed.hpp"
#include "common/runs.embed.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/vector.embed.hpp"

namespace mokume::opencl {
namespace {

void check_operand(const char* op, const char* side, const mk_tensor& t) {
  if (sdk::empty(t)) return;
  if (t.buffer == nullptr) throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": an " + side + " has no buffer");
  const uint64_t end = static_cast<uint64_t>(sdk::extent(t)) * sdk::kElementBytes;
  if (end > t.buffer->bytes)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": an " + side + " of " + sdk::shape(t) + " ends at byte " +
                                         std::to_string(end) + " of a buffer of " + std::to_string(t.buffer->bytes));
}

std::string elementwise_source() { return std::string(k_common_common) + k_common_vector + k_common_math + k_common_runs + k_elementwise_elementwise; }
std::string row_norm2_source() { return std::string(k_common_common) + k_row_norm2_row_norm2; }

// Runs an elementwise kernel over a view of rows x columns.
template <class... Arguments>
void run_elementwise(Launcher& launcher, const char* name, const mk_tensor& view, const Arguments&... arguments) {
  if (sdk::empty(view)) return;
  mk_device& device = launcher.device();
  const cl_kernel kernel = device.kernel(for_width(device, "elementwise", elementwise_source, run_width(device)), name);
  run_over(launcher, kernel, share(device, view.rows, view.columns), view, arguments...);
}

}  // namespace

bool is_too_long(const mk_device& device, const mk_op& op) {
  constexpr double kMostTerms = 30'000;
  if ((device.info.flags & MK_DEVICE_SOFTWARE) == 0) return false;
  double outputs = 0;
  for (uint32_t k = 0; k < op.n_outputs; ++k)
    outputs += static_cast<double>(op.outputs[k].rows) * static_cast<double>(op.outputs[k].columns);
  return ops::rule(op.code).cost(op).flops > 2 * kMostTerms * std::max(1.0, outputs);
}

void submit(Launcher& launcher, const mk_op& op) {
  admit(launcher.device(), op);
  run(launcher, op);
}

void admit(const mk_device& device, const mk_op& op) {
  ops::check(op);
  const char* name = ops::rule(op.code).name;
  for (uint32_t i = 0; i < op.n_inputs; ++i) check_operand(name, "input", op.inputs[i]);
  for (uint32_t i = 0; i < op.n_outputs; ++i) {
    check_operand(name, "output", op.outputs[i]);
    if (op.outputs[i].buffer != nullptr) op.outputs[i].buffer->written();
  }
  if (is_too_long(device, op))
    throw Error(MK_UNSUPPORTED, std::string(name) + ": sums of so many terms come out wrong on " + device.info.name);
}

void run(Launcher& launcher, const mk_op& op) {
  const char* name = ops::rule(op.code).name;
  switch (op.code) {
    case MK_OP_FILL:
      return fill(launcher, op);
    case MK_OP_GEMM:
      return gemm(launcher, op);
    case MK_OP_ROW_NORM2:
      return row_norm2(launcher, op);
    case MK_OP_KERNEL_MAP:
      return kernel_map(launcher, op);
    case MK_OP_GATHER_ROWS:
      return gather_rows(launcher, op);
    case MK_OP_MAX_POOL:
      return max_pool(launcher, op);
    case MK_OP_MAX_POOL_GRAD:
      return max_pool_grad(launcher, op);
    case MK_OP_AVG_POOL:
      return avg_pool(launcher, op);
    case MK_OP_AVG_POOL_GRAD:
      return avg_pool_grad(launcher, op);
    case MK_OP_BIAS_ACT:
      return bias_act(launcher, op);
    case MK_OP_ACT_GRAD:
      return act_grad(launcher, op);
    case MK_OP_DROPOUT:
      return dropout(launcher, op);
    case MK_OP_AFFINE_COLUMNS:
      return affine_columns(launcher, op);
    case MK_OP_SOFTMAX_LOSS:
      return softmax_loss(launcher, op);
    case MK_OP_SQUARED_LOSS:
      return squared_loss(launcher, op);
    case MK_OP_OPTIMIZER_STEP:
      return optimizer_step(launcher, op);
    case MK_OP_CONV2D:
      return conv2d(launcher, op);
    case MK_OP_CONV2D_GRAD_INPUT:
      return conv2d_grad_input(launcher, op);
    case MK_OP_CONV2D_GRAD_WEIGHT:
      return conv2d_grad_weight(launcher, op);
    case MK_OP_LINEAR_UPDATE:
      return linear_update(launcher, op);
    default:
      throw Error(MK_UNSUPPORTED, std::string(name) + " is not implemented by the opencl backend");
  }
}

void fill(Launcher& launcher, const mk_op& op) {
  const mk_tensor& out = op.outputs[0];
  run_elementwise(launcher, "fill", out, memory(out), out.offset, out.row_stride, static_cast<float>(op.reals[0]));
}

void scale(Launcher& launcher, const mk_tensor& view, float keep) {
  run_elementwise(launcher, "scale", view, memory(view), view.offset, view.row_stride, keep);
}

void row_norm2(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const BuiltIn program{"row_norm2", row_norm2_source, ""};
  if (wide(device)) {
    const int64_t rows_each = std::clamp<int64_t>(16384 / std::max<int64_t>(x.columns, 1), 1, x.rows);
    launcher.run(device.kernel(program, "row_norm2_vector"), {(x.rows + rows_each - 1) / rows_each, 1, 1}, {1, 1, 1},
                 x.columns > 0 ? memory(x) : memory(out), x.offset, x.row_stride, x.rows, x.columns, memory(out),
                 out.offset, rows_each);
  } else {
    launcher.run(device.kernel(program, "row_norm2_scalar"), {(x.rows + 3) / 4 * 16, 4, 1}, {16, 4, 1},
                 x.columns > 0 ? memory(x) : memory(out), x.offset, x.row_stride, x.rows, x.columns, memory(out),
                 out.offset, int64_t{1}, LocalFloats{4 * 16});
  }
}

void kernel_map(Launcher& launcher, const mk_op& op) {
  const mk_tensor &dot = op.inputs[0], &out = op.outputs[0];
  const bool rbf = op.integers[0] == static_cast<int64_t>(ops::KernelKind::rbf);
  // An argument that a kind does not read must still be a buffer.
  const mk_tensor &norm_x = rbf ? op.inputs[1] : dot, &norm_y = rbf ? op.inputs[2] : dot;
  run_elementwise(launcher, "kernel_map", out, memory(dot), dot.offset, dot.row_stride, memory(norm_x), norm_x.offset,
                  memory(norm_y), norm_y.offset, memory(out), out.offset, out.row_stride,
                  static_cast<int32_t>(op.integers[0]), static_cast<float>(op.reals[0]),
                  static_cast<float>(op.reals[1]), static_cast<int32_t>(op.reals[2]));
}

void gather_rows(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &index = op.inputs[1], &out = op.outputs[0];
  // Of no rows, every index is outside.
  const cl_mem from = sdk::empty(x) ? memory(out) : memory(x);
  run_elementwise(launcher, "gather_rows", out, from, x.offset, x.row_stride, x.rows, memory(index), index.offset,
                  memory(out), out.offset, out.row_stride);
}

}  // namespace mokume::opencl
