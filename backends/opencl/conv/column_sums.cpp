#include "conv/column_sums.hpp"

#include "common/grid.hpp"
#include "conv/column_sums.embed.hpp"
#include "conv/column_sums_args.h"
#include "conv/problem.hpp"

namespace mokume::opencl {

namespace {

const LibraryKernel& sums_kernel(mk_device& device, int width, const char* name) {
  return device.kernel(for_width("sums", kConvColumnSums, width), name);
}

}  // namespace

void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first) {
  constexpr int64_t kRowsEach = 512;
  mk_device& device = launcher.device();
  const int width = uses_vectors(device) ? channel_width(device, x.columns) : 1;  // a GPU needs every work-item
  const int64_t blocks = divide_up(x.rows, kRowsEach), local = uses_vectors(device) ? 1 : 64;
  const cl_mem sums = launcher.queue().workspace(kPatchesSlot, blocks * x.columns);
  launcher.run(
      sums_kernel(device, width, "column_sums"), {{blocks, divide_up(x.columns, width), 1}, {1, local, 1}},
      ColumnSumsArgs{.x = view(x), .rows = x.rows, .rows_each = kRowsEach, .columns = narrow(x.columns), .reserved = 0},
      {memory(x), sums});
  launcher.run(
      sums_kernel(device, width, "sum_blocks"), {{x.columns, 1, 1}, {local, 1, 1}},
      SumBlocksArgs{.blocks = blocks, .out_offset = out.offset, .columns = narrow(x.columns), .first = first ? 1 : 0},
      {sums, memory(out)});
}

void sum_parts(Launcher& launcher, cl_mem parts, int64_t count, const mk_tensor& out, bool fresh) {
  mk_device& device = launcher.device();
  const int64_t local = uses_vectors(device) ? 1 : 64;
  launcher.run(
      sums_kernel(device, 1, "sum_parts"), {{out.rows * out.columns, 1, 1}, {local, 1, 1}},
      SumPartsArgs{
          .out = view(out), .parts = count, .rows = out.rows, .columns = narrow(out.columns), .fresh = fresh ? 1 : 0},
      {parts, memory(out)});
}

}  // namespace mokume::opencl
