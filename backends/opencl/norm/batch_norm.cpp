#include "norm/batch_norm.hpp"

#include <algorithm>

#include "common/grid.hpp"
#include "norm/batch_norm.embed.hpp"
#include "norm/batch_norm_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// All devices share these constants, so that the bits do not depend on the device.
constexpr int64_t kRowsEach = 64;  // rows per block
constexpr int64_t kFan = 64;       // blocks per group: FAN in batch_norm.cl
constexpr int64_t kSide = 16;      // SIDE in batch_norm.cl

enum { kBatchPartsSlot, kBatchGroupsSlot, kCoefficientsSlot };

struct Parts {
  cl_mem memory;
  int64_t count, rows_each;
};

class BatchNormLaunches {
 public:
  BatchNormLaunches(Launcher& launcher, int64_t rows, int64_t columns, bool relu)
      : launcher_(launcher), device_(launcher.device()), rows_(rows), columns_(columns), relu_(relu ? 1 : 0) {}

  // Writes the two sums of each block, either of x alone or of dy and x with their moments, and merges groups of blocks
  // until columns() can merge the rest.
  Parts parts(const mk_tensor& x, const mk_tensor* dy, const mk_tensor* moments) {
    const int width = channel_width(device_, columns_);
    Parts parts{nullptr, divide_up(rows_, kRowsEach), kRowsEach};
    const int64_t vectors = divide_up(columns_, width), enough = uses_vectors(device_) ? 4096 : 1,
                  each = std::clamp<int64_t>(enough / (kRowsEach * width), 1, parts.count);
    parts.memory = workspace(kBatchPartsSlot, parts.count);
    const Range range{{vectors * divide_up(parts.count, each), 1, 1}, {group(), 1, 1}};
    NormBlocksArgs args{.x = view(x),
                        .dy = {},
                        .rows = rows_,
                        .rows_each = kRowsEach,
                        .blocks = parts.count,
                        .blocks_each = each,
                        .moments_offset = 0,
                        .moments_step = 0,
                        .columns = narrow(columns_),
                        .relu = relu_};
    if (dy == nullptr) {
      launcher_.run(kernel("norm_blocks", width, {args.x}), range, args, {memory(x), parts.memory});
    } else {
      args.dy = view(*dy);
      args.moments_offset = moments->offset;
      args.moments_step = moments->row_stride;
      launcher_.run(kernel("norm_products", width, {args.x, args.dy, view(*moments)}), range, args,
                    {memory(*dy), memory(x), memory(*moments), parts.memory});
    }
    const char* const join = dy == nullptr ? "norm_merge" : "norm_add";
    for (size_t slot = kBatchGroupsSlot; parts.count > (in_groups() ? kFan * kFan : kFan);
         slot = slot == kBatchGroupsSlot ? kBatchPartsSlot : kBatchGroupsSlot) {
      const int64_t groups = divide_up(parts.count, kFan);
      const cl_mem to = workspace(slot, groups);
      launcher_.run(kernel(join, 1, {}), {{groups * columns_, 1, 1}, {group(), 1, 1}},
                    NormMergeArgs{.rows = rows_,
                                  .rows_each = parts.rows_each,
                                  .count = parts.count,
                                  .fan = kFan,
                                  .columns = narrow(columns_),
                                  .reserved = 0},
                    {parts.memory, to});
      parts = {to, groups, parts.rows_each * kFan};
    }
    return parts;
  }

  void apply(const mk_tensor& x, cl_mem moments, int64_t scale, int64_t shift, const mk_tensor& y) {
    const RunLaunch l(device_, rows_, columns_);
    launcher_.run(kernel("norm_apply", row_width(device_, columns_), {view(x), view(y), {scale, 0}, {shift, 0}}),
                  l.range,
                  NormApplyArgs{.grid = l.grid,
                                .x = view(x),
                                .y = view(y),
                                .scale_offset = scale,
                                .shift_offset = shift,
                                .relu = relu_,
                                .reserved = 0},
                  {memory(x), moments, memory(y)});
  }

  // Runs one work-item for each column.
  template <class Args>
  void columns(const char* name, const Args& args, std::initializer_list<cl_mem> buffers) {
    launcher_.run(kernel(name, 1, {}), {{columns_, 1, 1}, {group(), 1, 1}}, args, buffers);
  }
  // Runs the kernel whose groups also merge groups of blocks, or `name` on devices with too small groups for it.
  template <class Args>
  void merging_columns(const char* name, const char* together, const Args& args,
                       std::initializer_list<cl_mem> buffers) {
    if (!in_groups()) return columns(name, args, buffers);
    const int64_t all = divide_up(columns_, kSide) * kSide;
    launcher_.run(kernel(together, 1, {}), {{all, kSide, 1}, {kSide, kSide, 1}}, args, buffers, kFan * 2 * kSide);
  }

  const LibraryKernel& kernel(const char* name, int width, std::initializer_list<View> views) {
    return device_.kernel(for_views(device_, "batch_norm", kNormBatchNorm, width, views, rows_ * columns_), name);
  }
  cl_mem workspace(size_t slot, int64_t blocks) { return launcher_.queue().workspace(slot, 2 * blocks * columns_); }

 private:
  bool in_groups() const { return !uses_vectors(device_) && device_.info.max_work_group >= kSide * kSide; }
  int64_t group() const { return uses_vectors(device_) ? 1 : 64; }

  Launcher& launcher_;
  mk_device& device_;
  int64_t rows_, columns_;
  i32 relu_;
};

bool is_relu(const mk_op& op) { return op.batch_norm.activation == ops::Activation::relu; }

}  // namespace

void batch_norm(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &weight = op.inputs[1], &bias = op.inputs[2], &y = op.outputs[0];
  if (x.columns == 0) return;
  BatchNormLaunches norm(launcher, x.rows, x.columns, is_relu(op));
  const auto eps = static_cast<f32>(op.batch_norm.eps);
  if (op.n_inputs == 5) {
    if (x.rows == 0) return;
    const mk_tensor &mean = op.inputs[3], &variance = op.inputs[4];
    const cl_mem given = norm.workspace(kBatchPartsSlot, 1);
    norm.columns("norm_given",
                 NormGivenArgs{.weight_offset = weight.offset,
                               .bias_offset = bias.offset,
                               .mean_offset = mean.offset,
                               .variance_offset = variance.offset,
                               .columns = narrow(x.columns),
                               .eps = eps},
                 {memory(weight), memory(bias), memory(mean), memory(variance), given});
    return norm.apply(x, given, 0, x.columns, y);
  }
  const mk_tensor& moments = op.outputs[1];
  const Parts parts = norm.parts(x, nullptr, nullptr);
  norm.merging_columns("norm_moments", "norm_moments_together",
                       NormMomentsArgs{.rows = x.rows,
                                       .rows_each = parts.rows_each,
                                       .count = parts.count,
                                       .weight_offset = weight.offset,
                                       .bias_offset = bias.offset,
                                       .moments_offset = moments.offset,
                                       .moments_step = moments.row_stride,
                                       .columns = narrow(x.columns),
                                       .eps = eps},
                       {parts.memory, memory(weight), memory(bias), memory(moments)});
  const auto line = [&](int moment) { return moments.offset + moment * moments.row_stride; };
  norm.apply(x, memory(moments), line(ops::kNormScale), line(ops::kNormShift), y);
}

void batch_norm_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &dy = op.inputs[0], &x = op.inputs[1], &moments = op.inputs[2];
  const mk_tensor &dweight = op.outputs[0], &dbias = op.outputs[1];
  if (x.columns == 0) return;
  mk_device& device = launcher.device();
  BatchNormLaunches norm(launcher, x.rows, x.columns, is_relu(op));
  const Parts parts = norm.parts(x, &dy, &moments);
  const cl_mem coefficients = norm.workspace(kCoefficientsSlot, 1);
  // An argument must be a buffer even if there are no running moments.
  const bool runs = ops::norm_drunning(op) != nullptr;
  const mk_tensor &running = runs ? op.inputs[3] : moments, &drunning = runs ? *ops::norm_drunning(op) : dweight;
  norm.merging_columns(
      "norm_coefficients", "norm_coefficients_together",
      NormCoefficientsArgs{.rows = x.rows,
                           .count = parts.count,
                           .moments_offset = moments.offset,
                           .moments_step = moments.row_stride,
                           .dweight_offset = dweight.offset,
                           .dbias_offset = dbias.offset,
                           .running = runs ? view(running) : View{},
                           .drunning = runs ? view(drunning) : View{},
                           .columns = narrow(x.columns),
                           .runs = runs ? 1 : 0,
                           .share = static_cast<f32>(op.batch_norm.share),
                           .reserved = 0},
      {parts.memory, memory(moments), memory(running), memory(dweight), memory(dbias), memory(drunning), coefficients});
  if (ops::norm_dx(op) == nullptr) return;
  const mk_tensor& dx = *ops::norm_dx(op);
  const RunLaunch l(device, x.rows, x.columns);
  const View lines{0, x.columns};  // the coefficients
  launcher.run(
      norm.kernel("norm_grad", row_width(device, x.columns), {view(dy), view(x), view(dx), view(moments), lines}),
      l.range,
      NormGradArgs{.grid = l.grid,
                   .dy = view(dy),
                   .x = view(x),
                   .dx = view(dx),
                   .moments_offset = moments.offset,
                   .moments_step = moments.row_stride,
                   .relu = is_relu(op) ? 1 : 0,
                   .reserved = 0},
      {memory(dy), memory(x), memory(moments), coefficients, memory(dx)});
}

}  // namespace mokume::opencl
