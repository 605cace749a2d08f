// linear_update: see sdk/ops/linear_update.hpp and the heads of the kernels.
#include "common/common.embed.hpp"
#include "gemm/vector.hpp"
#include "linear_update/step.embed.hpp"
#include "linear_update/long_rows.embed.hpp"
#include "linear_update/one_column.embed.hpp"
#include "linear_update/short_rows.embed.hpp"
#include "linear_update/tile.embed.hpp"
#include "ops.hpp"
#include "linear_update/pad_rows.embed.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/transpose.embed.hpp"
#include "common/vector.embed.hpp"

namespace mokume::opencl {
namespace {

std::string step_source() { return std::string(k_common_common) + k_common_vector + k_common_transpose + k_linear_update_step; }
std::string vector_source() { return step_source() + k_linear_update_long_rows; }
std::string short_source() { return step_source() + k_linear_update_short_rows; }
std::string pad_source() { return std::string(k_common_common) + k_linear_update_pad_rows; }
std::string one_source() { return std::string(k_common_common) + k_common_vector + k_linear_update_one_column; }
std::string tile_source() { return std::string(k_common_common) + k_linear_update_tile; }

// What is not there is stood in for by the weight, which the kernels then leave alone.
const mk_tensor& state_of(const mk_op& op) { return op.outputs[sdk::empty(op.outputs[1]) ? 0 : 1]; }
const mk_tensor& dx_of(const mk_op& op) { return op.outputs[sdk::empty(op.outputs[2]) ? 0 : 2]; }
cl_mem input(const mk_op& op, int i) { return memory(sdk::empty(op.inputs[i]) ? op.outputs[0] : op.inputs[i]); }

int32_t stateful(const mk_op& op) { return sdk::empty(op.outputs[1]) ? 0 : 1; }
int32_t wanted(const mk_op& op) { return sdk::empty(op.outputs[2]) ? 0 : 1; }
int32_t after_relu(const mk_op& op) { return op.integers[1] == 1 ? 1 : 0; }
int32_t first(const mk_op& op) { return op.integers[0] == 1 ? 1 : 0; }
float real(const mk_op& op, int i) { return static_cast<float>(op.reals[i]); }

// A sum for dx runs along a row of the weight as kChains chains, in vectors of as many also where the device's are
// shorter; where the row is short, as one.
constexpr int kChains = 16;
constexpr int64_t kShortRow = 3 * kChains;

struct Padded {
  cl_mem memory;
  int64_t row;  // floats
};

// dy with rows of whole vectors, which begin where lines of the cache do.
Padded padded(Launcher& launcher, const mk_tensor& dy) {
  const int64_t row = round_up(dy.columns, kChains);
  const auto floats = static_cast<uint64_t>(std::max<int64_t>(dy.rows, 1) * row);
  const cl_mem to = launcher.queue().workspace(0, floats * sizeof(float));
  if (dy.rows > 0)
    launcher.run(launcher.device().kernel({"pad_rows", pad_source, ""}, "pad_rows"), {dy.rows, 1, 1}, {1, 1, 1},
                 memory(dy), dy.offset, dy.row_stride, dy.columns, to, row);
  return {to, row};
}

// What the kernels are made for.
std::string kind(const mk_op& op, int64_t rows) {
  return " -DBATCH=" + std::to_string(op.inputs[0].rows) + " -DROWS=" + std::to_string(rows) +
         " -DWANTED=" + std::to_string(wanted(op)) + " -DSTATEFUL=" + std::to_string(stateful(op));
}

void on_cpu(Launcher& launcher, const mk_op& op) {
  mk_device& device = launcher.device();
  const mk_tensor &x = op.inputs[0], &weight = op.outputs[0], &state = state_of(op), &dx = dx_of(op);
  constexpr int64_t kWorthSkipping = 10 * kChains;  // columns; in shorter rows it costs more than it saves
  const bool skips = x.rows >= 4 && weight.columns > kWorthSkipping && (after_relu(op) == 1 || wanted(op) == 0);
  const bool two_fit = x.rows <= 2 || (device.vector_width == kChains && x.rows <= 12);  // rows' sums into registers
  const std::string options =
      kind(op, (two_fit || wanted(op) == 0) && !skips ? 2 : 1) + (skips ? " -DSKIPS=1" : " -DSKIPS=0");
  const BuiltIn program{"linear_update" + options, vector_source, vector_options(device, kChains) + options};
  const int64_t each = rows_each(device, weight.rows, kChains);
  const Padded dy = padded(launcher, op.inputs[1]);
  launcher.run(device.kernel(program, "linear_update"), {divide_up(weight.rows, each), 1, 1}, {1, 1, 1}, input(op, 0),
               x.offset, x.row_stride, dy.memory, dy.row, weight.rows, weight.columns, memory(weight), weight.offset,
               weight.row_stride, memory(state), state.offset, state.row_stride, first(op), memory(dx), dx.offset,
               dx.row_stride, after_relu(op), real(op, 0), real(op, 1), real(op, 2), each);
}

void on_cpu_with_short_rows(Launcher& launcher, const mk_op& op) {
  mk_device& device = launcher.device();
  const mk_tensor &x = op.inputs[0], &weight = op.outputs[0], &state = state_of(op), &dx = dx_of(op);
  const std::string options = kind(op, 4) + " -DBLOCKS=" + std::to_string(divide_up(weight.columns, kChains));
  const BuiltIn program{"linear_update_short" + options, short_source, vector_options(device, kChains) + options};
  const int64_t each = rows_each(device, weight.rows, kChains);
  const Padded dy = padded(launcher, op.inputs[1]);
  launcher.run(device.kernel(program, "linear_update_short"), {divide_up(weight.rows, each), 1, 1}, {1, 1, 1},
               input(op, 0), x.offset, x.row_stride, dy.memory, dy.row, weight.rows, weight.columns, memory(weight),
               weight.offset, weight.row_stride, memory(state), state.offset, state.row_stride, first(op), memory(dx),
               dx.offset, dx.row_stride, after_relu(op), real(op, 0), real(op, 1), real(op, 2), each);
}

bool has_dense_column(const mk_op& op) {
  return op.outputs[0].columns == 1 && op.outputs[0].row_stride == 1 && state_of(op).row_stride == 1;
}

void on_cpu_with_one_output(Launcher& launcher, const mk_op& op) {
  constexpr int64_t kOneRows = 2048;  // ONE_ROWS of linear_update_one.cl
  mk_device& device = launcher.device();
  const mk_tensor &x = op.inputs[0], &dy = op.inputs[1], &weight = op.outputs[0], &state = state_of(op),
                  &dx = dx_of(op);
  const BuiltIn program{"linear_update_one/" + std::to_string(device.vector_width), one_source, vector_options(device)};
  const int64_t each = round_up(divide_up(weight.rows, 8 * device.cores), kOneRows);
  launcher.run(device.kernel(program, "linear_update_one"), {divide_up(weight.rows, each), 1, 1}, {1, 1, 1},
               input(op, 0), x.offset, x.row_stride, static_cast<int32_t>(x.rows), input(op, 1), dy.offset,
               dy.row_stride, weight.rows, memory(weight), weight.offset, memory(state), state.offset, stateful(op),
               first(op), memory(dx), dx.offset, dx.row_stride, wanted(op), after_relu(op), real(op, 0), real(op, 1),
               real(op, 2), each);
}

void on_gpu(Launcher& launcher, const mk_op& op) {
  constexpr int64_t kLanes = 16, kRows = 8, kTile = 64;  // of linear_update_tile.cl
  constexpr int64_t kMostRows = ops::kLinearUpdateRows;
  mk_device& device = launcher.device();
  const mk_tensor &x = op.inputs[0], &dy = op.inputs[1], &weight = op.outputs[0], &state = state_of(op),
                  &dx = dx_of(op);
  const BuiltIn program{"linear_update_tile", tile_source,
                        "-DMOST_ROWS=" + std::to_string(kMostRows) + " -DSHORT_ROW=" + std::to_string(kShortRow)};
  launcher.run(device.kernel(program, "linear_update_tile"), {divide_up(weight.rows, kRows) * kLanes, kRows, 1},
               {kLanes, kRows, 1}, input(op, 0), x.offset, x.row_stride, static_cast<int32_t>(x.rows), input(op, 1),
               dy.offset, dy.row_stride, weight.rows, weight.columns, memory(weight), weight.offset, weight.row_stride,
               memory(state), state.offset, state.row_stride, stateful(op), first(op), memory(dx), dx.offset,
               dx.row_stride, wanted(op), after_relu(op), real(op, 0), real(op, 1), real(op, 2),
               LocalFloats{(kMostRows + kRows) * (kTile + 1) + kMostRows * kRows});
}

}  // namespace

void linear_update(Launcher& launcher, const mk_op& op) {
  if (!wide(launcher.device())) return on_gpu(launcher, op);
  if (has_dense_column(op)) return on_cpu_with_one_output(launcher, op);
  if (op.outputs[0].columns <= kShortRow) return on_cpu_with_short_rows(launcher, op);
  on_cpu(launcher, op);
}

}  // namespace mokume::opencl
