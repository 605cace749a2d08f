#include "gemm/tiles.hpp"

#include <algorithm>
#include <tuple>

#include "common/divide.hpp"

namespace mokume::opencl {
namespace {

// Estimates cycles. A core has four schedulers, each of which multiplies for one warp at a time, so the warps of the
// busiest scheduler count. A work-group alone on a core waits for memory once for each bk terms, and its warps multiply
// at half of the speed (measured on an H100). Partial sums are also written and read, and take a second launch.
Division divide(const Tile& t, int64_t cores, int64_t m, int64_t n, int64_t k, int64_t block, bool partial) {
  constexpr int64_t kItemsAtOnce = 4 * 32;
  constexpr double kLaunch = 9000, kBytesPerCycle = 20;  // bytes of a core, when all cores read and write
  constexpr double kWaitOfLoads = 400;
  const int64_t blocks = divide_up(k, block);
  Division d{&t, divide_up(m, t.bm) * divide_up(n, t.bn), partial};
  const int64_t rounds = divide_up(partial ? d.tiles * blocks : d.tiles, cores);
  const auto turns = static_cast<double>(divide_up(rounds * t.items(), kItemsAtOnce));
  const double terms = static_cast<double>(k) / (partial ? static_cast<double>(blocks) : 1);
  const double alone = terms / t.bk * (kWaitOfLoads + 2.0 * t.tm * t.tn * t.bk);
  d.work = turns * t.tm * t.tn * terms / t.speed;
  d.cost = std::max(d.work, alone);
  const double bytes = 4.0 * static_cast<double>(m * n) * static_cast<double>(2 * blocks + 1);
  if (partial) d.cost += kLaunch + bytes / (kBytesPerCycle * static_cast<double>(cores));
  return d;
}

}  // namespace

Division divide_product(std::span<const Tile> tiles, int64_t cores, int64_t m, int64_t n, int64_t k, int64_t block) {
  const bool must_split = k > block && block != kBlock;
  const bool can_split = must_split || (k > block && 2 * m * n <= kWorkspaceFloats / 2);
  Division best;
  for (const Tile& t : tiles)
    for (const bool partial : {false, true}) {
      if (partial ? !can_split : must_split) continue;
      const Division d = divide(t, cores, m, n, k, block, partial);
      const auto rank = [](const Division& x) { return std::tuple(x.cost, x.work, x.tiles); };
      if (best.tile == nullptr || rank(d) < rank(best)) best = d;
    }
  return best;
}

}  // namespace mokume::opencl
