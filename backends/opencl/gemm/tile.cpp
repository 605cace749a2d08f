#include "gemm/tile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>

#include "common/grid.hpp"
#include "gemm/reduce.embed.hpp"
#include "gemm/tile.embed.hpp"
#include "units/units.hpp"

namespace mokume::opencl {
namespace {

constexpr Tile kFewItems[] = {{32, 32, 16, 4, 4}}, kTraced[] = {{16, 16, 4, 4, 4}}, kOther[] = {{64, 64, 16, 4, 4}};

std::span<const Tile> tiles_of(const mk_device& device, bool with_units) {
  if (with_units) return unit_tiles();
  if ((device.info.flags & MK_DEVICE_INSTRUMENTED) != 0) return kTraced;
  if (device.info.max_work_group < 256) return kFewItems;
  return device.info.kind == MK_DEVICE_GPU ? std::span<const Tile>(kTiles) : kOther;
}

constexpr int64_t kNear = int64_t{1} << 29;  // elements whose distance in bytes fits into 31 bits

// Holds what is attached to a device: divisions and kernels that products had before.
struct Known {
  std::map<std::array<int64_t, 6>, Division> divisions;  // by units, cores, m, n, k and block
  std::map<std::tuple<const Tile*, bool, bool, bool, std::array<int64_t, 4>>, const LibraryKernel*> kernels;
};

const Division& division_of(mk_device& device, bool units, const Product& q, int64_t block) {
  Division& known = device.attachments.get<Known>().divisions[{units, device.cores, q.m, q.n, q.k, block}];
  if (known.tile == nullptr) known = divide_product(tiles_of(device, units), device.cores, q.m, q.n, q.k, block);
  return known;
}

// Sums the terms [first, product.k). The last pass finishes the output.
void run_pass(Launcher& launcher, const Problem& p, const Division& d, int64_t first, bool last,
              const SumTiles& sum_tiles) {
  const Product& q = p.product;
  const Tile& t = *d.tile;
  const int64_t blocks = divide_up(q.k - first, p.block), each = d.partial ? divide_up(blocks, kMostGroups[2]) : blocks;
  Split split{.first = first,
              .blocks = blocks,
              .blocks_each = static_cast<i32>(each),
              .partial = d.partial ? 1 : 0,
              .last = last && !d.partial ? 1 : 0,
              .block = static_cast<i32>(p.block)};
  const std::array<int64_t, 3> local{t.bn / t.tn, t.bm / t.tm, 1};
  const Range range{{d.tiles * local[0], local[1], divide_up(blocks, each)}, local};
  if (!d.partial) return sum_tiles(t, q, split, range, p.out);
  Product sums = q;
  sums.out = {0, q.n, 1};
  const cl_mem to = launcher.queue().workspace(0, q.m * q.n * blocks);
  sum_tiles(t, sums, split, range, to);
  split.last = last ? 1 : 0;
  launcher.run(launcher.device().kernel({"gemm_reduce", kGemmReduce, ""}, "gemm_reduce"),
               {{q.n, std::min(q.m, kMostGroups[1]), 1}, {64, 1, 1}}, GemmTileArgs{q, split}, {to, p.bias, p.out});
}

}  // namespace

OperandForm::OperandForm(const Operand& o, int64_t rows, int64_t terms)
    : along_k(o.k_step == 1),
      wide(along_k ? whole_vectors(o.offset, o.row_step, terms) : whole_vectors(o.offset, o.k_step, rows)) {}

std::string OperandForm::macros(const char* name) const {
  return std::string(" -D") + name + "_ALONG_K=" + (along_k ? "1" : "0") + " -D" + name + "_WIDE=" + (wide ? "1" : "0");
}

const Tile& whole_tile(const mk_device& device, int64_t m, int64_t n, int64_t k) {
  return *divide_product(tiles_of(device, false), device.cores, m, n, std::min(k, kBlock), kBlock).tile;
}

TileForm::TileForm(const Tile& t, const Product& q, int64_t reach)
    : tile(&t),
      out_wide(whole_vectors(q.out.offset, q.out.row_step, q.n) && (q.biased == 0 || q.bias_offset % 4 == 0)),
      far(std::max({reach, q.m, q.n}) >= kNear) {}

std::string TileForm::macros() const {
  const Tile& t = *tile;
  return "-DBK=" + std::to_string(t.bk) + " -DBM=" + std::to_string(t.bm) + " -DBN=" + std::to_string(t.bn) +
         " -DTM=" + std::to_string(t.tm) + " -DTN=" + std::to_string(t.tn) + " -DOUT_WIDE=" + (out_wide ? "1" : "0") +
         (far ? " -DFAR" : "");
}

const LibraryKernel& tile_kernel(mk_device& device, const TileForm& form, bool units, std::array<int64_t, 4> more,
                                 const std::function<const LibraryKernel&()>& make) {
  const LibraryKernel*& known =
      device.attachments.get<Known>().kernels[{form.tile, form.out_wide, form.far, units, more}];
  if (known == nullptr) known = &make();
  return *known;
}

// Few tiles and many terms would leave most of the device idle, so each block of terms becomes a separate work-group.
void sum_product(Launcher& launcher, const Problem& p, const SumTiles& sum_tiles) {
  const Product& q = p.product;
  const Division d = division_of(launcher.device(), with_units(launcher.device(), p), q, p.block);
  const int64_t each = d.partial ? kWorkspaceFloats / 2 / (q.m * q.n) * p.block : kMostTerms;
  for (int64_t first = 0; first < q.k; first += each) {
    Problem pass = p;
    pass.product.k = std::min(first + each, q.k);
    if (first > 0) pass.product.beta = 1;
    run_pass(launcher, pass, d, first, pass.product.k == q.k, sum_tiles);
  }
}

void gemm_tile(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const Product& whole = p.product;
  const OperandForm a(whole.a, whole.m, whole.k), b(whole.b, whole.n, whole.k);
  sum_product(launcher, p, [&](const Tile& t, const Product& q, const Split& split, const Range& range, cl_mem out) {
    const int64_t reach = std::max({q.a.row_step * t.bm, q.b.row_step * t.bn, q.a.k_step * t.bk, q.b.k_step * t.bk});
    const TileForm form(t, q, reach);
    const int64_t forms = a.along_k + 2 * a.wide + 4 * b.along_k + 8 * b.wide;
    const std::function<const LibraryKernel&()> make = [&]() -> const LibraryKernel& {
      const std::string macros = form.macros() + unit_macros(device, p, t) + a.macros("A") + b.macros("B");
      return device.kernel({"gemm_tile/" + macros, kGemmTile, macros}, "gemm_tile");
    };
    const LibraryKernel& kernel = tile_kernel(device, form, with_units(device, p), {0, forms, 0, 0}, make);
    launcher.run(kernel, range, GemmTileArgs{q, split}, {p.a, p.b, p.bias, out}, local_floats(device, p, t));
  });
}

}  // namespace mokume::opencl
