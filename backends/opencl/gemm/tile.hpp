// Computes products on GPUs, one tile of the output per work-group (product.cl).
#pragma once

#include <functional>
#include <string>

#include "gemm/problem.hpp"
#include "gemm/tile_args.h"
#include "gemm/tiles.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

void gemm_tile(Launcher& launcher, const Problem& p);

// Runs the kernel that sums the tiles of a product. Its output is part of `product`, but goes to `out`.
using SumTiles = std::function<void(const Tile&, const Product& product, const Split&, const Range&, cl_mem out)>;

// Divides the product into work-groups and runs it, in several passes if the sums of blocks exceed the workspace.
void sum_product(Launcher& launcher, const Problem& p, const SumTiles& sum_tiles);

// Returns whether vectors of four elements are aligned, and `length` is a multiple of them.
inline bool whole_vectors(int64_t offset, int64_t step, int64_t length) {
  return offset % 4 == 0 && step % 4 == 0 && length % 4 == 0;
}

// Returns the macros of product.cl for a tile. `reach` is the largest distance of elements in a tile of an operand.
std::string tile_macros(const Tile& t, const Product& q, int64_t reach);

// Returns the macros that describe how a kernel loads operand `name` (A or B) with this many rows and terms.
std::string operand_macros(const char* name, const Operand& o, int64_t rows, int64_t terms);

// Returns the device's best tile for a product whose terms are not divided.
const Tile& whole_tile(const mk_device& device, int64_t m, int64_t n, int64_t k);

}  // namespace mokume::opencl
