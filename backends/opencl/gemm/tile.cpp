#include "gemm/tile.hpp"

#include <algorithm>
#include <span>

#include "common/grid.hpp"
#include "gemm/tile.embed.hpp"
#include "gemm/tile_args.h"
#include "gemm/tiles.hpp"

namespace mokume::opencl {
namespace {

constexpr Tile kFewItems[] = {{32, 32, 16, 4, 4}}, kTraced[] = {{16, 16, 16, 4, 4}}, kOther[] = {{64, 64, 16, 4, 4}};

std::span<const Tile> tiles_of(const mk_device& device) {
  if ((device.info.flags & MK_DEVICE_INSTRUMENTED) != 0) return kTraced;
  if (device.info.max_work_group < 256) return kFewItems;
  return device.info.kind == MK_DEVICE_GPU ? std::span<const Tile>(kTiles) : kOther;
}

bool whole(int64_t offset, int64_t step, int64_t length) { return offset % 4 == 0 && step % 4 == 0 && length % 4 == 0; }

// Returns the macros that describe how a kernel loads an operand with this many rows.
std::string layout(const char* name, const Operand& o, int64_t rows, int64_t terms) {
  const bool along_k = o.k_step == 1;
  const bool wide = along_k ? whole(o.offset, o.row_step, terms) : whole(o.offset, o.k_step, rows);
  return std::string(" -D") + name + "_ALONG_K=" + (along_k ? "1" : "0") + " -D" + name + "_WIDE=" + (wide ? "1" : "0");
}

// Returns whether 32 bits are too few for the bytes between elements of a tile, or for the numbers of rows.
bool is_far(const Tile& t, const Product& q) {
  constexpr int64_t kNear = int64_t{1} << 29;
  return std::max({q.a.row_step * t.bm, q.b.row_step * t.bn, q.a.k_step * t.bk, q.b.k_step * t.bk}) >= kNear ||
         std::max(q.m, q.n) >= kNear;
}

std::string options(const Tile& t, const Product& q) {
  const bool out_wide = whole(q.out.offset, q.out.row_step, q.n) && (q.biased == 0 || q.bias_offset % 4 == 0);
  return "-DKB=" + std::to_string(kBlock) + " -DBK=" + std::to_string(t.bk) + " -DBM=" + std::to_string(t.bm) +
         " -DBN=" + std::to_string(t.bn) + " -DTM=" + std::to_string(t.tm) + " -DTN=" + std::to_string(t.tn) +
         layout("A", q.a, q.m, q.k) + layout("B", q.b, q.n, q.k) + " -DOUT_WIDE=" + (out_wide ? "1" : "0") +
         (is_far(t, q) ? " -DFAR" : "");
}

const LibraryKernel& kernel_of(mk_device& device, const Tile& t, const Product& q, const char* name) {
  const std::string macros = options(t, q);
  return device.kernel({"gemm_tile/" + macros, kGemmTile, macros}, name);
}

// Runs terms that a kernel takes at once.
void run_terms(Launcher& launcher, const Problem& p, const Division& d, bool last) {
  mk_device& device = launcher.device();
  const Product& q = p.product;
  const Tile& t = *d.tile;
  const int64_t blocks = p.blocks(), each = d.partial ? divide_up(blocks, kMostGroups[2]) : blocks;
  GemmTileArgs args{.product = q,
                    .blocks = blocks,
                    .blocks_each = static_cast<i32>(each),
                    .partial = d.partial ? 1 : 0,
                    .last = last && !d.partial ? 1 : 0,
                    .reserved = 0};
  if (d.partial) args.product.out = {0, q.n, 1};
  const cl_mem to = d.partial ? launcher.queue().workspace(0, q.m * q.n * blocks) : p.out;
  const std::array<int64_t, 3> local{t.bn / t.tn, t.bm / t.tm, 1};
  launcher.run(kernel_of(device, t, args.product, "gemm_tile"),
               {{d.tiles * local[0], local[1], divide_up(blocks, each)}, local}, args, {p.a, p.b, p.bias, to},
               t.local_floats());
  if (!d.partial) return;
  args.product.out = q.out;
  args.last = last ? 1 : 0;
  launcher.run(kernel_of(device, t, args.product, "gemm_reduce"), {{q.n, std::min(q.m, kMostGroups[1]), 1}, {64, 1, 1}},
               args, {to, p.bias, p.out});
}

}  // namespace

// Few tiles and many terms would leave most of the device idle, so each block of terms becomes a separate work-group.
// Their sums must fit into the workspace; more terms take several passes.
void gemm_tile(Launcher& launcher, const Problem& p) {
  constexpr int64_t kMostTerms = int64_t{1} << 30;
  const Product& q = p.product;
  const Division d = divide_product(tiles_of(launcher.device()), launcher.device().cores, q.m, q.n, q.k);
  const int64_t each = d.partial ? kWorkspaceFloats / 2 / (q.m * q.n) * kBlock : kMostTerms;
  for (int64_t first = 0; first < q.k; first += each) {
    Problem some = p.terms(first, each);
    if (first > 0) some.product.beta = 1;
    run_terms(launcher, some, d, first + each >= q.k);
  }
}

}  // namespace mokume::opencl
