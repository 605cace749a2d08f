#include "gemm/tile.hpp"

#include "common/grid.hpp"
#include "gemm/tile.embed.hpp"
#include "gemm/tile_args.h"

namespace mokume::opencl {
namespace {

constexpr int64_t kTileTerms = 16;

// Holds the macros of tile.cl, which need at most 256 work-items and 17 KiB of local memory.
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

const LibraryKernel& tile_kernel(mk_device& device, const Tile& t, const char* name) {
  const std::string size = std::to_string(t.bm) + "x" + std::to_string(t.bn);
  const std::string options = "-DKB=" + std::to_string(kBlock) + " -DBK=" + std::to_string(kTileTerms) +
                              " -DBM=" + std::to_string(t.bm) + " -DBN=" + std::to_string(t.bn) +
                              " -DTM=" + std::to_string(t.tm) + " -DTN=" + std::to_string(t.tn);
  return device.kernel({"gemm_tile/" + size, kGemmTile, options}, name);
}

}  // namespace

// Few tiles and a long K would leave most of the device idle, so each block of K becomes a separate work-group.
void gemm_tile(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const Product& q = p.product;
  const Tile t = choose_tile(device, q.m, q.n);
  const int64_t tiles = divide_up(q.m, t.bm) * divide_up(q.n, t.bn), blocks = p.blocks();
  const bool fits = q.m * q.n <= kWorkspaceFloats / 2 / blocks;
  const bool partial = blocks > 1 && tiles < 2 * device.cores && fits;
  GemmTileArgs args{.product = q,
                    .blocks = blocks,
                    .blocks_each = partial ? divide_up(blocks, kMostGroups[2]) : blocks,
                    .partial = partial ? 1 : 0,
                    .reserved = 0};
  if (partial) args.product.out = {0, q.n, 1};
  const cl_mem to = partial ? launcher.queue().workspace(0, q.m * q.n * blocks) : p.out;
  const std::array<int64_t, 3> local{t.bn / t.tn, t.bm / t.tm, 1};
  launcher.run(tile_kernel(device, t, "gemm_tile"),
               {{tiles * local[0], local[1], divide_up(blocks, args.blocks_each)}, local}, args, {p.a, p.b, to},
               kTileTerms * (t.bm + t.bn + 2));
  if (!partial) return;
  args.product.out = q.out;
  launcher.run(tile_kernel(device, t, "gemm_reduce"), {{q.n, std::min(q.m, kMostGroups[1]), 1}, {64, 1, 1}}, args,
               {to, p.out});
}

}  // namespace mokume::opencl
