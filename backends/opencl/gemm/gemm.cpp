// GEMM: out = alpha * op(a) * op(b) + beta * out.
//
// How own variants add, on every device and for every shape: the K terms of an output element are cut into blocks of
// kBlock. A block's sum is a chain of fma() over k in order, from zero. The output starts as alpha * sum_0 (beta = 0)
// or fma(alpha, sum_0, beta * out) and becomes fma(alpha, sum_b, out) for each further block in order. So an element
// depends on its row of op(a), its column of op(b) and K alone: a row multiplied by itself has the same bits as inside
// a large product, in every variant, tile and split. CLBlast adds in an order of its own.
#include <algorithm>

#include "gemm/clblast.hpp"
#include "common/common.embed.hpp"
#include "gemm/skinny.embed.hpp"
#include "gemm/tile.embed.hpp"
#include "gemm/vector.embed.hpp"
#include "gemm/vector.hpp"
#include "ops.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/transpose.embed.hpp"
#include "common/vector.embed.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kShort = 64;  // products with a side no longer than this read the other operand where it lies
constexpr int64_t kSome = 256;  // rows of a whose panels are made in passing, where K is much longer
constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kWorkspaceBytes = int64_t{128} << 20;  // of each of the two workspaces, about

// op(a) or the transpose of op(b): element (i, k) is at offset + i * row_step + k * k_step, and one of the steps is 1.
struct Operand {
  cl_mem memory;
  int64_t offset, row_step, k_step, rows;

  Operand part(int64_t row, int64_t k, int64_t part_rows) const {
    return {memory, offset + row * row_step + k * k_step, row_step, k_step, part_rows};
  }
};

struct Output {
  cl_mem memory;
  int64_t offset, row_step;
};

struct Problem {
  Operand a, b;
  Output out;
  int64_t m, n, k;
  float alpha, beta;
  mk_tensor bias;  // without a buffer: none
  bool relu;

  bool biased() const { return bias.buffer != nullptr; }
};

// The arguments of EPILOGUE: a kernel without a bias gets other memory that it leaves alone.
template <class... Arguments>
void run_with_epilogue(Launcher& launcher, cl_kernel kernel, std::array<int64_t, 3> items, const Problem& p,
                       const Arguments&... arguments) {
  launcher.run(kernel, items, {1, 1, 1}, arguments..., p.biased() ? memory(p.bias) : p.out.memory, p.bias.offset,
               static_cast<int32_t>(p.biased()), static_cast<int32_t>(p.relu));
}

Operand operand(const mk_tensor& t, bool k_is_row, int64_t rows) {
  return {t.buffer->memory.get(), t.offset, k_is_row ? 1 : t.row_stride, k_is_row ? t.row_stride : 1, rows};
}

// ---- vector: CPUs -------------------------------------------------------------------------------------------------

std::string vector_source() { return std::string(k_common_common) + k_common_vector + k_common_transpose + k_gemm_vector + k_gemm_skinny; }

cl_kernel vector_kernel(mk_device& device, const char* name) {
  return device.kernel({"gemm_vector/" + std::to_string(device.vector_width), vector_source, vector_options(device)},
                       name);
}

void pack(Launcher& launcher, const char* kernel, const Operand& x, int64_t k, int64_t width, cl_mem to) {
  const int64_t panels = divide_up(x.rows, width);
  launcher.run(vector_kernel(launcher.device(), kernel),
               {divide_up(k, kBlock), divide_up(panels, VectorSizes::kPackPanels), 1}, {1, 1, 1}, x.memory, x.offset,
               x.row_step, x.k_step, x.rows, k, to);
}

// The part of the output one work-item does: large enough to use what it brings into the cache again, small enough
// that every core has several.
std::pair<int64_t, int64_t> packed_block(const VectorSizes& sizes, int64_t m, int64_t n, int64_t cores) {
  int64_t rows = 6 * sizes.mr, columns = 16 * sizes.nr;
  const auto items = [&] { return divide_up(m, rows) * divide_up(n, columns); };
  while (items() < 6 * cores && columns > 2 * sizes.nr) columns /= 2;
  while (items() < 6 * cores && rows > sizes.mr) rows = rows == 6 * sizes.mr ? 3 * sizes.mr : sizes.mr;
  return {rows, columns};
}

// Both operands are packed in parts that fit in the workspaces; parts along k are whole blocks and come in order.
void gemm_packed(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const int64_t most = std::min<int64_t>(kWorkspaceBytes, static_cast<int64_t>(device.info.max_buffer_bytes)) / kFloat;
  const int64_t k_part = std::min<int64_t>(p.k, 32 * kBlock);
  const int64_t m_part = std::min(round_up(p.m, sizes.mr), std::max<int64_t>(most / k_part / sizes.mr, 1) * sizes.mr);
  const int64_t n_part = std::min(round_up(p.n, sizes.nr), std::max<int64_t>(most / k_part / sizes.nr, 1) * sizes.nr);
  const cl_mem packed_a = launcher.queue().workspace(0, static_cast<uint64_t>(m_part * k_part * kFloat));
  const cl_mem packed_b = launcher.queue().workspace(1, static_cast<uint64_t>(n_part * k_part * kFloat));
  for (int64_t n0 = 0; n0 < p.n; n0 += n_part)
    for (int64_t k0 = 0; k0 < p.k; k0 += k_part) {
      const int64_t n = std::min(n_part, p.n - n0), k = std::min(k_part, p.k - k0);
      pack(launcher, "pack_b", p.b.part(n0, k0, n), k, sizes.nr, packed_b);
      for (int64_t m0 = 0; m0 < p.m; m0 += m_part) {
        const int64_t m = std::min(m_part, p.m - m0);
        pack(launcher, "pack_a", p.a.part(m0, k0, m), k, sizes.mr, packed_a);
        const auto [rows, columns] = packed_block(sizes, m, n, device.cores);
        Problem part = p;
        part.bias.offset += n0;
        run_with_epilogue(launcher, vector_kernel(device, "gemm_packed"),
                          {divide_up(m, rows), divide_up(n, columns), 1}, part, packed_a, packed_b, m, n, k,
                          p.out.memory, p.out.offset + m0 * p.out.row_step + n0, p.out.row_step, p.alpha, p.beta,
                          static_cast<int32_t>(k0 == 0), rows, columns, static_cast<int32_t>(k0 + k == p.k));
      }
    }
}

// A product with one short side, as seen from the long one.
struct Skinny {
  Operand x, y;  // long, short
  int64_t out_x, out_y;

  explicit Skinny(const Problem& p)
      : x(p.n <= p.m ? p.a : p.b),
        y(p.n <= p.m ? p.b : p.a),
        out_x(p.n <= p.m ? p.out.row_step : 1),
        out_y(p.n <= p.m ? 1 : p.out.row_step) {}
  bool along_k() const { return x.k_step == 1; }
};

// Packing the long operand would cost more than the product. A long operand that is read in vectors must have one.
bool is_skinny(const VectorSizes& sizes, const Problem& p) {
  const Skinny s(p);
  const bool fits = (s.y.rows + VectorSizes::kShortPanel) * p.k <= kWorkspaceBytes / kFloat;
  return s.y.rows <= kShort && fits && (s.along_k() || s.x.rows >= sizes.nr);
}

// Blocks of terms are shared by the cores, which leave their sums in `part`, block by block of m x n.
constexpr int64_t kWideEnough = 256;              // columns of a work-item
constexpr int64_t kLongRow = 192;                 // columns of a row that is read by itself
constexpr int64_t kSumsBytes = int64_t{4} << 20;  // of sums of blocks that should not leave the caches

bool sums_fit(const Problem& p, int64_t blocks) { return blocks * p.m * p.n <= kWorkspaceBytes / kFloat; }

void add_blocks(Launcher& launcher, const Problem& p, cl_mem part, int64_t blocks) {
  mk_device& device = launcher.device();
  const int64_t share = std::max(kWideEnough, divide_up(p.n, device.cores));
  const int64_t each = p.m * p.n >= 8192 ? share : p.n;
  run_with_epilogue(launcher, vector_kernel(device, "sum_of_blocks"), {divide_up(p.n, each), p.m, 1}, p, part, blocks,
                    static_cast<int32_t>(p.m), p.n, p.out.memory, p.out.offset, p.out.row_step, p.alpha, p.beta, each);
}

// The long operand lies along k: vectors along the short one. The cores share its rows, or, where these are few, the
// blocks of k.
void skinny_along_k(Launcher& launcher, const Problem& p, const Skinny& s) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const int64_t width = VectorSizes::kShortPanel, cores = device.cores;
  const int64_t each = rows_each(device, s.x.rows, sizes.skinny_rows), blocks = divide_up(p.k, kBlock);
  if (divide_up(s.x.rows, sizes.skinny_rows) < 2 * cores && blocks >= 2 * cores && sums_fit(p, blocks)) {
    const int64_t blocks_each = std::clamp<int64_t>(blocks / (8 * cores), 1, 16),
                  items = divide_up(blocks, blocks_each);
    const cl_mem part = launcher.queue().workspace(1, static_cast<uint64_t>(blocks * p.m * p.n * kFloat));
    if (s.y.rows == 1) {
      launcher.run(vector_kernel(device, "skinny_rows_one"), {items, 1, 1}, {1, 1, 1}, s.x.memory, s.x.offset,
                   s.x.row_step, s.x.rows, s.y.memory, s.y.offset, s.y.k_step, p.k, part, blocks_each);
    } else {
      const bool x_is_a = p.n <= p.m;
      const int64_t scratch_each = round_up(s.y.rows, width) * kBlock;
      const cl_mem scratch = launcher.queue().workspace(0, static_cast<uint64_t>(items * scratch_each * kFloat));
      launcher.run(vector_kernel(device, "skinny_rows_shared"), {items, 1, 1}, {1, 1, 1}, s.x.memory, s.x.offset,
                   s.x.row_step, s.x.rows, s.y.memory, s.y.offset, s.y.row_step, s.y.k_step, s.y.rows, p.k, part,
                   x_is_a ? p.n : int64_t{1}, x_is_a ? int64_t{1} : p.n, blocks_each, scratch);
    }
    return add_blocks(launcher, p, part, blocks);
  }
  const cl_mem panels = launcher.queue().workspace(0, static_cast<uint64_t>(round_up(s.y.rows, width) * p.k * kFloat));
  pack(launcher, "pack_short", s.y, p.k, width, panels);
  run_with_epilogue(launcher, vector_kernel(device, "skinny_rows"), {divide_up(s.x.rows, each), 1, 1}, p, s.x.memory,
                    s.x.offset, s.x.row_step, s.x.rows, panels, s.y.rows, p.k, p.out.memory, p.out.offset, s.out_x,
                    s.out_y, p.alpha, p.beta, each, static_cast<int32_t>(p.n <= p.m));
}

// Rows of b that are long, and so many that memory decides: each work-item reads rows of its own from one end to the
// other. (Where two cores each read one half of every row, they get half the bandwidth.) The sums of blocks are added
// up, some of the blocks at a time, before they leave the caches.
bool is_long_rows(const mk_device& device, const Problem& p) {
  const int64_t cores = device.cores;
  return p.m <= VectorSizes::kShortPanel && p.n >= kLongRow && p.k >= 8 * cores * kBlock;
}

void long_rows(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const int64_t items = 4 * device.cores, blocks = divide_up(p.k, kBlock);
  const int64_t at_once =
      std::min(std::max(kSumsBytes / (p.m * p.n * kFloat) / items, int64_t{1}) * items, round_up(blocks, items));
  const auto bytes = [&](int64_t rows, int64_t columns) {
    return static_cast<uint64_t>(rows * p.m * columns * kFloat);
  };
  const cl_mem scratch = launcher.queue().workspace(0, bytes(items, round_up(p.n, device.vector_width)));
  const cl_mem sums = launcher.queue().workspace(1, bytes(at_once, p.n));
  for (int64_t b = 0; b < blocks; b += at_once) {
    Problem some = p;
    const int64_t first = b * kBlock, n_blocks = std::min(at_once, blocks - b);
    some.a = p.a.part(0, first, p.m);
    some.b = p.b.part(0, first, p.n);
    some.k = std::min(n_blocks * kBlock, p.k - first);
    if (b > 0) some.beta = 1;
    if (b + n_blocks < blocks) some.bias = {}, some.relu = false;
    const int64_t blocks_each = divide_up(n_blocks, items);
    launcher.run(vector_kernel(device, "long_rows"), {divide_up(n_blocks, blocks_each), 1, 1}, {1, 1, 1}, some.b.memory,
                 some.b.offset, some.b.k_step, some.n, some.a.memory, some.a.offset, some.a.row_step, some.a.k_step,
                 static_cast<int32_t>(some.m), some.k, sums, blocks_each, scratch);
    add_blocks(launcher, some, sums, n_blocks);
  }
}

// The long operand b lies along n, and is read as it lies in memory: some rows of a, as many as a batch has, times a
// layer's weights. The cores share its columns where there are enough, else its blocks of k.
void few_rows(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const int64_t cores = device.cores, blocks = divide_up(p.k, kBlock);
  if (p.k == 1) {
    const int64_t each = std::clamp<int64_t>(divide_up(p.n, 4 * cores), kWideEnough, 64 * kWideEnough);
    return run_with_epilogue(launcher, vector_kernel(device, "few_rows_one_term"), {divide_up(p.n, each), 1, 1}, p,
                             p.b.memory, p.b.offset, p.n, p.a.memory, p.a.offset, p.a.row_step,
                             static_cast<int32_t>(p.m), p.out.memory, p.out.offset, p.out.row_step, p.alpha, p.beta,
                             each);
  }
  const bool shared = cores > 1 && blocks > 1 && p.n < kWideEnough * cores && sums_fit(p, blocks);
  const int64_t sharers = shared ? 1 : std::min(cores, divide_up(p.n, kWideEnough));
  const int64_t columns_each = round_up(divide_up(p.n, sharers * divide_up(p.n, sharers * 3 * kWideEnough)), sizes.nr);
  const int64_t groups = divide_up(p.n, columns_each);
  const int64_t blocks_each = shared ? divide_up(blocks, std::min(blocks, divide_up(4 * cores, groups))) : blocks;
  const int64_t parts = divide_up(blocks, blocks_each);
  const cl_mem scratch =
      launcher.queue().workspace(0, static_cast<uint64_t>(parts * groups * (sizes.mr + sizes.nr) * kBlock * kFloat));
  const cl_mem sums =
      shared ? launcher.queue().workspace(1, static_cast<uint64_t>(blocks * p.m * p.n * kFloat)) : p.out.memory;
  run_with_epilogue(launcher, vector_kernel(device, "few_rows"), {groups, parts, 1}, p, p.b.memory, p.b.offset,
                    p.b.k_step, p.n, p.a.memory, p.a.offset, p.a.row_step, p.a.k_step, static_cast<int32_t>(p.m), p.k,
                    sums, shared ? int64_t{0} : p.out.offset, p.out.row_step, p.alpha, p.beta,
                    static_cast<int32_t>(shared), columns_each, blocks_each, scratch);
  if (shared) add_blocks(launcher, p, sums, blocks);
}

// The long operand is the transpose of a: out is written column by column.
void skinny_columns(Launcher& launcher, const Problem& p, const Skinny& s) {
  mk_device& device = launcher.device();
  const VectorSizes sizes(device.vector_width);
  const cl_mem panels =
      launcher.queue().workspace(0, static_cast<uint64_t>(round_up(s.y.rows, sizes.mr) * p.k * kFloat));
  pack(launcher, "pack_a", s.y, p.k, sizes.mr, panels);
  launcher.run(vector_kernel(device, "skinny_columns"), {divide_up(s.x.rows, sizes.nr), 1, 1}, {1, 1, 1}, s.x.memory,
               s.x.offset, s.x.k_step, s.x.rows, panels, s.y.rows, p.k, p.out.memory, p.out.offset, s.out_x, s.out_y,
               p.alpha, p.beta);
}

constexpr int64_t kSmall = 32768;  // terms, in whole vectors, that one core does sooner than two wake for a launch

void small_product(Launcher& launcher, const Problem& p) {
  run_with_epilogue(launcher, vector_kernel(launcher.device(), "small_product"), {1, 1, 1}, p, p.a.memory, p.a.offset,
                    p.a.row_step, p.a.k_step, p.m, p.b.memory, p.b.offset, p.b.row_step, p.b.k_step, p.n, p.k,
                    p.out.memory, p.out.offset, p.out.row_step, p.alpha, p.beta);
}

// A column as a row, which the kernels write in vectors.
Problem transposed(const Problem& p) {
  Problem t = p;
  std::swap(t.a, t.b);
  std::swap(t.m, t.n);
  return t;
}

// Which of the vector kernels a product takes.
enum class Way { packed, along_k, few_rows, long_rows, columns, small };

Way way_of(const mk_device& device, const Problem& p) {
  const VectorSizes sizes(device.vector_width);
  const bool wide_enough = p.n >= sizes.nr || (p.n > device.vector_width && p.k >= kBlock);
  const bool b_lies_along_n = p.b.row_step == 1 && wide_enough;
  if (b_lies_along_n && (p.m <= kShort ? p.n > p.m : p.m <= kSome && p.k > 4 * p.m))
    return is_long_rows(device, p) ? Way::long_rows : Way::few_rows;
  if (p.k <= 4 * kBlock && p.m * round_up(p.n, device.vector_width) * p.k <= kSmall) return Way::small;
  if (!is_skinny(sizes, p)) return Way::packed;
  return Skinny(p).along_k() ? Way::along_k : Way::columns;
}

// ---- tile: GPUs ---------------------------------------------------------------------------------------------------

std::string tile_source() { return std::string(k_common_common) + k_gemm_tile; }

constexpr int64_t kTileTerms = 16;

// Macros of gemm_tile.cl: at most 256 work-items and 17 KiB of local memory.
struct Tile {
  int bm, bn, tm, tn;
};

Tile choose_tile(const mk_device& device, int64_t m, int64_t n) {
  if ((device.info.flags & MK_DEVICE_INSTRUMENTED) != 0) return {16, 16, 4, 4};
  if (device.info.max_work_group < 256) return {32, 32, 4, 4};
  if (device.info.kind != MK_DEVICE_GPU) return {64, 64, 4, 4};
  if (n <= 16) return {64, 16, 4, 1};
  if (m <= 16) return {16, 64, 1, 4};
  const int64_t large = divide_up(m, 128) * divide_up(n, 128);
  return large >= device.cores ? Tile{128, 128, 8, 8} : Tile{64, 64, 4, 4};
}

cl_kernel tile_kernel(mk_device& device, const Tile& t, const char* name) {
  const std::string size = std::to_string(t.bm) + "x" + std::to_string(t.bn);
  const std::string options = "-DKB=" + std::to_string(kBlock) + " -DBK=" + std::to_string(kTileTerms) +
                              " -DBM=" + std::to_string(t.bm) + " -DBN=" + std::to_string(t.bn) +
                              " -DTM=" + std::to_string(t.tm) + " -DTN=" + std::to_string(t.tn);
  return device.kernel({"gemm_tile/" + size, tile_source, options}, name);
}

// Few tiles and a long K would leave most of the device idle: then each block of K is a work-group of its own.
void gemm_tile(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const Tile t = choose_tile(device, p.m, p.n);
  const int64_t tiles_m = divide_up(p.m, t.bm), tiles_n = divide_up(p.n, t.bn), blocks = divide_up(p.k, kBlock);
  const std::array<int64_t, 3> local{t.bn / t.tn, t.bm / t.tm, 1};
  const bool few = tiles_m * tiles_n < 2 * device.cores;
  const bool fits = p.m * p.n <= kWorkspaceBytes / 8 / blocks;
  const bool partial = blocks > 1 && few && fits;
  const int64_t blocks_each = partial ? divide_up(blocks, kMostGroups[2]) : blocks;
  const cl_mem to =
      partial ? launcher.queue().workspace(0, static_cast<uint64_t>(p.m * p.n * blocks * kFloat)) : p.out.memory;
  launcher.run(tile_kernel(device, t, "gemm_tile"),
               {tiles_m * tiles_n * local[0], local[1], divide_up(blocks, blocks_each)}, local, p.a.memory, p.a.offset,
               p.a.row_step, p.a.k_step, p.b.memory, p.b.offset, p.b.row_step, p.b.k_step, p.m, p.n, p.k, to,
               partial ? int64_t{0} : p.out.offset, partial ? p.n : p.out.row_step, p.alpha, p.beta, blocks_each,
               static_cast<int32_t>(partial), LocalFloats{kTileTerms * (t.bm + t.bn + 2)});
  if (partial)
    launcher.run(tile_kernel(device, t, "gemm_reduce"), {p.n, std::min(p.m, kMostGroups[1]), 1}, {64, 1, 1}, to, blocks,
                 p.m, p.n, p.out.memory, p.out.offset, p.out.row_step, p.alpha, p.beta);
}

// ---- CLBlast ------------------------------------------------------------------------------------------------------

void gemm_clblast(Launcher& launcher, const mk_op& op) {
  const mk_tensor &a = op.inputs[0], &b = op.inputs[1], &out = op.outputs[0];
  const auto stride = [](const mk_tensor& t) { return static_cast<size_t>(std::max(t.row_stride, t.columns)); };
  const auto [m, n, k] = ops::gemm_shape(op);
  const SgemmCall call{op.integers[0] != 0,
                       op.integers[1] != 0,
                       static_cast<size_t>(m),
                       static_cast<size_t>(n),
                       static_cast<size_t>(k),
                       static_cast<float>(op.reals[0]),
                       static_cast<float>(op.reals[1]),
                       a.buffer->memory.get(),
                       static_cast<size_t>(a.offset),
                       stride(a),
                       b.buffer->memory.get(),
                       static_cast<size_t>(b.offset),
                       stride(b),
                       out.buffer->memory.get(),
                       static_cast<size_t>(out.offset),
                       stride(out)};
  launcher.enqueue_foreign(
      [&](cl_event* event) { launcher.device().clblast->sgemm(call, launcher.queue().handle.get(), event); });
}

}  // namespace

void gemm(Launcher& launcher, const mk_op& op) {
  const mk_tensor& out = op.outputs[0];
  const auto [m, n, k] = ops::gemm_shape(op);
  if (sdk::empty(out)) return;
  const bool relu = op.integers[2] == static_cast<int64_t>(ops::Activation::relu);
  const mk_tensor bias = op.n_inputs == 3 ? op.inputs[2] : mk_tensor{};
  const auto finish = [&] {
    if (bias.buffer != nullptr || relu)
      bias_act(launcher, ops::bias_act(out, bias, static_cast<ops::Activation>(op.integers[2]), out));
  };
  if (k == 0) {
    scale(launcher, out, static_cast<float>(op.reals[1]));
    return finish();
  }
  Problem p{operand(op.inputs[0], op.integers[0] != 0, m),
            operand(op.inputs[1], op.integers[1] == 0, n),
            {out.buffer->memory.get(), out.offset, out.row_stride},
            m,
            n,
            k,
            static_cast<float>(op.reals[0]),
            static_cast<float>(op.reals[1]),
            bias,
            relu};
  const std::string& variant = launcher.device().choices.gemm;
  if (variant == "clblast" || variant == "tile") {
    variant == "tile" ? gemm_tile(launcher, p) : gemm_clblast(launcher, op);
    return finish();
  }
  if (p.n == 1 && p.out.row_step == 1 && p.a.row_step == 1 && !p.biased()) p = transposed(p);
  switch (way_of(launcher.device(), p)) {
    case Way::packed:
      return gemm_packed(launcher, p);
    case Way::along_k:
      return skinny_along_k(launcher, p, Skinny(p));
    case Way::few_rows:
      return few_rows(launcher, p);
    case Way::long_rows:
      return long_rows(launcher, p);
    case Way::columns:
      skinny_columns(launcher, p, Skinny(p));
      return finish();
    case Way::small:
      return small_product(launcher, p);
  }
}

}  // namespace mokume::opencl
