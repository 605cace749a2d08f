#include "gemm/skinny.hpp"

#include "common/grid.hpp"
#include "gemm/vector.hpp"
#include "gemm/vector_args.h"

namespace mokume::opencl {
namespace {

constexpr int64_t kWideEnough = 256;               // number of columns that makes a work-item worthwhile
constexpr int64_t kSumsFloats = int64_t{1} << 20;  // limit for sums of blocks that should stay in the caches

SkinnyArgs skinny_args(const Problem& p) {
  return {.product = p.product, .rows_each = 0, .columns_each = 0, .blocks_each = 0, .shared = 0, .turned = 0};
}

// Returns whether the workspace holds the sums if the cores share the blocks of terms: m x n sums per block.
bool sums_fit(const Problem& p) { return p.blocks() * p.product.m * p.product.n <= kWorkspaceFloats; }

void add_blocks(Launcher& launcher, const Problem& p, cl_mem sums, int64_t blocks) {
  mk_device& device = launcher.device();
  const Product& q = p.product;
  const int64_t each = q.m * q.n >= 8192 ? std::max(kWideEnough, divide_up(q.n, device.cores)) : q.n;
  launcher.run(vector_kernel(device, "sum_of_blocks"), {{divide_up(q.n, each), q.m, 1}},
               SumOfBlocksArgs{.product = q, .blocks = blocks, .columns_each = each}, {sums, p.out, p.bias});
}

void one_term(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  SkinnyArgs args = skinny_args(p);
  args.columns_each = std::clamp<int64_t>(divide_up(p.product.n, 4 * device.cores), kWideEnough, 64 * kWideEnough);
  launcher.run(vector_kernel(device, "few_rows_one_term"), {{divide_up(p.product.n, args.columns_each), 1, 1}}, args,
               {p.b, p.a, p.out, p.bias});
}

}  // namespace

// Divides the rows of the long operand among the cores or, if there are few rows, the blocks of k.
void skinny_along_k(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const Problem s = p.long_first();
  const Product& q = s.product;
  const int64_t width = VectorSizes::kShortPanel, cores = device.cores, blocks = p.blocks();
  SkinnyArgs args = skinny_args(s);
  args.turned = p.product.n <= p.product.m ? 0 : 1;
  if (divide_up(q.m, sizes.skinny_rows) < 2 * cores && blocks >= 2 * cores && sums_fit(p)) {
    args.blocks_each = std::clamp<int64_t>(blocks / (8 * cores), 1, 16);
    const int64_t items = divide_up(blocks, args.blocks_each);
    const cl_mem sums = launcher.queue().workspace(1, blocks * q.m * q.n);
    if (q.n == 1) {
      launcher.run(vector_kernel(device, "skinny_rows_one"), {{items, 1, 1}}, args, {s.a, s.b, sums});
    } else {
      const cl_mem scratch = launcher.queue().workspace(0, items * round_up(q.n, width) * kBlock);
      launcher.run(vector_kernel(device, "skinny_rows_shared"), {{items, 1, 1}}, args, {s.a, s.b, sums, scratch});
    }
    return add_blocks(launcher, p, sums, blocks);
  }
  args.rows_each = rows_each(device, q.m, sizes.skinny_rows);
  const cl_mem panels = launcher.queue().workspace(0, round_up(q.n, width) * q.k);
  pack(launcher, "pack_short", s.b, q.b, q.n, q.k, width, panels);
  launcher.run(vector_kernel(device, "skinny_rows"), {{divide_up(q.m, args.rows_each), 1, 1}}, args,
               {s.a, panels, s.out, s.bias});
}

void skinny_long_rows(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const int64_t m = p.product.m, n = p.product.n, items = 4 * device.cores, blocks = p.blocks();
  const int64_t at_once =
      std::min(std::max(kSumsFloats / (m * n) / items, int64_t{1}) * items, round_up(blocks, items));
  const cl_mem scratch = launcher.queue().workspace(0, items * m * round_up(n, device.vector_width));
  const cl_mem sums = launcher.queue().workspace(1, at_once * m * n);
  for (int64_t b = 0; b < blocks; b += at_once) {
    const int64_t n_blocks = std::min(at_once, blocks - b);
    Problem some = p.terms(b * kBlock, n_blocks * kBlock);
    if (b > 0) some.product.beta = 1;
    if (b + n_blocks < blocks) some.product.biased = some.product.relu = 0;
    SkinnyArgs args = skinny_args(some);
    args.blocks_each = divide_up(n_blocks, items);
    launcher.run(vector_kernel(device, "long_rows"), {{divide_up(n_blocks, args.blocks_each), 1, 1}}, args,
                 {some.b, some.a, sums, scratch});
    add_blocks(launcher, some, sums, n_blocks);
  }
}

// Divides the columns of b among the cores or, if there are few columns, the blocks of k.
void skinny_few_rows(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const Product& q = p.product;
  const VectorSizes sizes(device.vector_width);
  const int64_t cores = device.cores, blocks = p.blocks();
  if (q.k == 1) return one_term(launcher, p);
  const bool shared = cores > 1 && blocks > 1 && q.n < kWideEnough * cores && sums_fit(p);
  const int64_t sharers = shared ? 1 : std::min(cores, divide_up(q.n, kWideEnough));
  SkinnyArgs args = skinny_args(p);
  args.columns_each = round_up(divide_up(q.n, sharers * divide_up(q.n, sharers * 3 * kWideEnough)), sizes.nr);
  const int64_t groups = divide_up(q.n, args.columns_each);
  args.blocks_each = shared ? divide_up(blocks, std::min(blocks, divide_up(4 * cores, groups))) : blocks;
  args.shared = shared ? 1 : 0;
  if (shared) args.product.out.offset = 0;
  const int64_t parts = divide_up(blocks, args.blocks_each);
  const cl_mem scratch = launcher.queue().workspace(0, parts * groups * (sizes.mr + sizes.nr) * kBlock);
  const cl_mem sums = shared ? launcher.queue().workspace(1, blocks * q.m * q.n) : p.out;
  launcher.run(vector_kernel(device, "few_rows"), {{groups, parts, 1}}, args, {p.b, p.a, sums, scratch, p.bias});
  if (shared) add_blocks(launcher, p, sums, blocks);
}

void skinny_columns(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const Problem s = p.long_first();
  const Product& q = s.product;
  const cl_mem panels = launcher.queue().workspace(0, round_up(q.n, sizes.mr) * q.k);
  pack(launcher, "pack_a", s.b, q.b, q.n, q.k, sizes.mr, panels);
  launcher.run(vector_kernel(device, "skinny_columns"), {{divide_up(q.m, sizes.nr), 1, 1}}, skinny_args(s),
               {s.a, panels, s.out});
}

void small_product(Launcher& launcher, const Problem& p) {
  launcher.run(vector_kernel(launcher.device(), "small_product"), {{1, 1, 1}}, skinny_args(p),
               {p.a, p.b, p.out, p.bias});
}

}  // namespace mokume::opencl
