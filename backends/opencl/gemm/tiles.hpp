// Chooses how work-groups divide a product: tile.cl.
#pragma once

#include <cstdint>
#include <span>

#include "gemm/limits.hpp"

namespace mokume::opencl {

// A work-group computes bm x bn outputs, bk terms at a time, with tm x tn outputs per work-item.
struct Tile {
  int bm, bn, bk, tm, tn;
  double speed = 1;  // multiplications per second relative to the largest tile; small tiles load more per product

  int64_t items() const { return int64_t{bm} / tm * (bn / tn); }
};

// The tiles of GPUs with work-groups of 256, the best of equals first. The largest takes 17 KiB of local memory.
inline constexpr Tile kTiles[] = {{128, 128, 8, 8, 8},      {128, 64, 8, 8, 8, 0.95},  {64, 128, 8, 8, 8, 0.95},
                                  {64, 64, 8, 8, 8, 0.9},   {128, 32, 16, 8, 4, 0.85}, {32, 128, 16, 4, 8, 0.85},
                                  {64, 64, 16, 4, 4, 0.75}, {64, 16, 16, 4, 4, 0.6},   {16, 64, 16, 4, 4, 0.6}};

struct Division {
  const Tile* tile = nullptr;
  int64_t tiles = 0;
  bool partial = false;  // each block of terms is a work-group of its own
  double work = 0;       // estimated cycles of a core that multiplies
  double cost = 0;       // estimated cycles until the product is done

  // Returns the share of multiplications that compute outputs, in (0, 1].
  double used(int64_t m, int64_t n) const {
    return static_cast<double>(m * n) / static_cast<double>(tiles * tile->bm * tile->bn);
  }
};

// Returns the cheapest division of a product of m x n outputs and k terms, all at least 1, on this many cores. Blocks
// of other than kBlock terms may be no multiples of a tile's terms, so each becomes a work-group of its own.
Division divide_product(std::span<const Tile> tiles, int64_t cores, int64_t m, int64_t n, int64_t k,
                        int64_t block = kBlock);

}  // namespace mokume::opencl
