#include "linear_update/linear_update.hpp"

#include <algorithm>

#include "common/grid.hpp"
#include "gemm/vector.hpp"
#include "linear_update/lanes.embed.hpp"
#include "linear_update/linear_update_args.h"
#include "linear_update/long_rows.embed.hpp"
#include "linear_update/one_column.embed.hpp"
#include "linear_update/pad_rows.embed.hpp"
#include "linear_update/short_rows.embed.hpp"
#include "linear_update/tile.embed.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// A sum for dx consists of kChains chains along a row of the weight, even on devices with shorter vectors. Along a
// short row, the sum is a single chain.
constexpr int kChains = 16;
constexpr int64_t kShortRow = 3 * kChains;

// Holds the tensors and arguments of an op. The weight replaces missing tensors, which kernels do not access.
struct Step {
  explicit Step(const mk_op& op)
      : x(op.inputs[0]),
        dy(op.inputs[1]),
        weight(op.outputs[0]),
        state(op.outputs[sdk::empty(op.outputs[1]) ? 0 : 1]),
        dx(op.outputs[sdk::empty(op.outputs[2]) ? 0 : 2]),
        args{.x = view(x),
             .dy = view(dy),
             .weight = view(weight),
             .state = view(state),
             .dx = view(dx),
             .rows = weight.rows,
             .columns = weight.columns,
             .rows_each = 1,
             .batch = narrow(x.rows),
             .stateful = sdk::empty(op.outputs[1]) ? 0 : 1,
             .wanted = sdk::empty(op.outputs[2]) ? 0 : 1,
             .first = op.linear_update.t == 1 ? 1 : 0,
             .after_relu = op.linear_update.after_relu == 1 ? 1 : 0,
             .lr = static_cast<float>(op.linear_update.lr),
             .decay = static_cast<float>(op.linear_update.weight_decay),
             .momentum = static_cast<float>(op.linear_update.momentum)} {}

  void run(Launcher& launcher, const LibraryKernel& kernel, const Range& range, int64_t local_floats = 0) const {
    launcher.run(
        kernel, range, args,
        {memory(sdk::empty(x) ? weight : x), padded_dy != nullptr ? padded_dy : memory(sdk::empty(dy) ? weight : dy),
         memory(weight), memory(state), memory(dx)},
        local_floats);
  }

  // Returns the options of the CPU kernels, which take `rows` rows of the weight at once.
  std::string options(int64_t rows) const {
    return " -DBATCH=" + std::to_string(x.rows) + " -DROWS=" + std::to_string(rows) +
           " -DWANTED=" + std::to_string(args.wanted) + " -DSTATEFUL=" + std::to_string(args.stateful);
  }

  const mk_tensor &x, &dy, &weight, &state, &dx;
  LinearUpdateArgs args;
  cl_mem padded_dy = nullptr;
};

// Copies dy into rows of whole vectors that begin at cache lines.
void pad_dy(Launcher& launcher, Step& step) {
  const mk_tensor& dy = step.dy;
  const int64_t row = round_up(dy.columns, kChains);
  step.padded_dy = launcher.queue().workspace(0, std::max<int64_t>(dy.rows, 1) * row);
  step.args.dy = {0, row};
  if (dy.rows > 0)
    launcher.run(launcher.device().kernel({"pad_rows", kLinearUpdatePadRows, ""}, "pad_rows"), {{dy.rows, 1, 1}},
                 PadRowsArgs{.x = view(dy), .columns = dy.columns, .padded = row}, {memory(dy), step.padded_dy});
}

void run_rows(Launcher& launcher, Step& step, const BuiltIn& program, const char* kernel) {
  mk_device& device = launcher.device();
  step.args.rows_each = rows_each(device, step.weight.rows, kChains);
  pad_dy(launcher, step);
  step.run(launcher, device.kernel(program, kernel), {{divide_up(step.weight.rows, step.args.rows_each), 1, 1}});
}

void on_cpu(Launcher& launcher, Step& step) {
  const mk_device& device = launcher.device();
  constexpr int64_t kWorthSkipping = 10 * kChains;  // in rows of at most this length, skipping costs more than it saves
  const int64_t batch = step.x.rows;
  const bool wanted = step.args.wanted != 0;
  const bool skips = batch >= 4 && step.weight.columns > kWorthSkipping && (step.args.after_relu != 0 || !wanted);
  // The sums of two rows fit into the registers.
  const bool two_fit = batch <= 2 || (device.vector_width == kChains && batch <= 12);
  const std::string options =
      step.options((two_fit || !wanted) && !skips ? 2 : 1) + (skips ? " -DSKIPS=1" : " -DSKIPS=0");
  run_rows(launcher, step, {"linear_update" + options, kLinearUpdateLongRows, vector_options(kChains) + options},
           "linear_update");
}

void on_cpu_with_short_rows(Launcher& launcher, Step& step) {
  const std::string options = step.options(4) + " -DBLOCKS=" + std::to_string(divide_up(step.weight.columns, kChains));
  run_rows(launcher, step, {"linear_update_short" + options, kLinearUpdateShortRows, vector_options(kChains) + options},
           "linear_update_short");
}

bool has_dense_column(const Step& step) {
  return step.weight.columns == 1 && step.weight.row_stride == 1 && step.state.row_stride == 1;
}

void on_cpu_with_one_output(Launcher& launcher, Step& step) {
  constexpr int64_t kOneRows = 2048;  // ONE_ROWS of one_column.cl
  mk_device& device = launcher.device();
  const BuiltIn program{"linear_update_one/" + std::to_string(device.vector_width), kLinearUpdateOneColumn,
                        vector_options(device)};
  step.args.rows_each = round_up(divide_up(step.weight.rows, 8 * device.cores), kOneRows);
  step.run(launcher, device.kernel(program, "linear_update_one"),
           {{divide_up(step.weight.rows, step.args.rows_each), 1, 1}});
}

constexpr int64_t kGroupLanes = 16, kGroupRows = 8;  // LANES and ROWS of lanes.cl and tile.cl

void on_gpu(Launcher& launcher, const Step& step) {
  const int64_t batch = step.x.rows, rows = step.weight.rows;
  // A work-item takes two rows if all cores then still have enough groups to hide the latency of memory.
  constexpr int64_t kEach = 2, kGroupsOfCore = 8;
  mk_device& device = launcher.device();
  const int64_t each = divide_up(rows, kGroupRows * kEach) >= kGroupsOfCore * device.cores ? kEach : 1;
  const std::string options = " -DBATCH=" + std::to_string(batch) + " -DEACH=" + std::to_string(each) +
                              " -DWANTED=" + std::to_string(step.args.wanted) +
                              " -DSTATEFUL=" + std::to_string(step.args.stateful);
  const BuiltIn program{"linear_update_lanes" + options, kLinearUpdateLanes, options};
  step.run(launcher, device.kernel(program, "linear_update_lanes"),
           {{divide_up(rows, kGroupRows * each) * kGroupLanes, kGroupRows, 1}, {kGroupLanes, kGroupRows, 1}},
           kGroupRows * std::max<int64_t>(batch, 1) * (kGroupLanes + 1));
}

void on_gpu_with_short_rows(Launcher& launcher, const Step& step) {
  constexpr int64_t kMostRows = ops::kLinearUpdateRows;
  const BuiltIn program{"linear_update_tile", kLinearUpdateTile,
                        "-DMOST_ROWS=" + std::to_string(kMostRows) + " -DSHORT_ROW=" + std::to_string(kShortRow)};
  step.run(launcher, launcher.device().kernel(program, "linear_update_tile"),
           {{divide_up(step.weight.rows, kGroupRows) * kGroupLanes, kGroupRows, 1}, {kGroupLanes, kGroupRows, 1}},
           (kMostRows + kGroupRows) * (kShortRow + 1) + kMostRows * kGroupRows);
}

}  // namespace

void linear_update(Launcher& launcher, const mk_op& op) {
  Step step(op);
  if (!uses_vectors(launcher.device()))
    return step.weight.columns <= kShortRow ? on_gpu_with_short_rows(launcher, step) : on_gpu(launcher, step);
  if (has_dense_column(step)) return on_cpu_with_one_output(launcher, step);
  if (step.weight.columns <= kShortRow) return on_cpu_with_short_rows(launcher, step);
  on_cpu(launcher, step);
}

}  // namespace mokume::opencl
