#include "ops.hpp"

#include <algorithm>

#include "common.embed.hpp"
#include "elementwise.embed.hpp"
#include "row_norm2.embed.hpp"
#include "sdk/ops.hpp"
#include "vector.embed.hpp"

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

std::string elementwise_source() { return std::string(k_common) + k_vector + k_elementwise; }
std::string row_norm2_source() { return std::string(k_common) + k_row_norm2; }

bool wide(const mk_device& device) { return device.choices.map == "vector"; }

cl_kernel elementwise_kernel(mk_device& device, const char* name) {
  const std::string width = std::to_string(wide(device) ? device.vector_width : 1);
  return device.kernel({"elementwise/" + width, elementwise_source, "-DVW=" + width}, name);
}

// How an elementwise kernel shares its elements: see FOR_EACH_RUN in elementwise.cl.
struct Share {
  int64_t rows_each = 1, columns_each = 1;
  std::array<int64_t, 3> global{}, local{1, 1, 1};
};

Share share(const mk_device& device, int64_t rows, int64_t columns) {
  Share s;
  if (wide(device)) {
    constexpr int64_t kElementsEach = 8192;  // a work-group of PoCL costs about as much as 100 elements
    s.columns_each = std::min(columns, kElementsEach);
    s.rows_each = std::clamp<int64_t>(kElementsEach / columns, 1, rows);
  } else {
    s.local = {64, 1, 1};
  }
  s.global = {(columns + s.columns_each - 1) / s.columns_each, (rows + s.rows_each - 1) / s.rows_each, 1};
  return s;
}

cl_mem memory(const mk_tensor& t) { return t.buffer == nullptr ? nullptr : t.buffer->memory.get(); }

// Runs an elementwise kernel over a view of rows x columns.
template <class... Arguments>
void run_elementwise(Launcher& launcher, const char* name, const mk_tensor& view, const Arguments&... arguments) {
  if (sdk::empty(view)) return;
  const Share s = share(launcher.device(), view.rows, view.columns);
  launcher.run(elementwise_kernel(launcher.device(), name), s.global, s.local, view.rows, view.columns, s.rows_each,
               s.columns_each, arguments...);
}

}  // namespace

void submit(Launcher& launcher, const mk_op& op) {
  ops::check(op);
  const char* name = ops::rule(op.code).name;
  for (uint32_t i = 0; i < op.n_inputs; ++i) check_operand(name, "input", op.inputs[i]);
  for (uint32_t i = 0; i < op.n_outputs; ++i) check_operand(name, "output", op.outputs[i]);
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
    launcher.run(device.kernel(program, "row_norm2_scalar"), {16, x.rows, 1}, {16, 4, 1},
                 x.columns > 0 ? memory(x) : memory(out), x.offset, x.row_stride, x.rows, x.columns, memory(out),
                 out.offset, int64_t{1});
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
