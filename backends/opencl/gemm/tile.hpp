// Computes products on GPUs, one tile of the output per work-group (product.cl).
#pragma once

#include <array>
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

// Holds the properties of a tile that are macros of product.cl. `reach` is the largest distance of elements in a tile
// of an operand.
struct TileForm {
  TileForm(const Tile& t, const Product& q, int64_t reach);
  std::string macros() const;

  const Tile* tile;
  bool out_wide, far;
};

// Tells how a kernel loads an operand with this many rows and terms.
struct OperandForm {
  OperandForm(const Operand& o, int64_t rows, int64_t terms);
  std::string macros(const char* name) const;  // A or B

  bool along_k, wide;
};

// Returns the kernel that was returned for the same arguments, or that of make(). A group of networks asks for the same
// kernels hundreds of times a step, which is too often to make their macros each time. The macros must depend only on
// the arguments. The first of the four numbers tells the files apart: 0 is gemm/tile.cl, and the others are the ways of
// implicit.cl.
const LibraryKernel& tile_kernel(mk_device& device, const TileForm& form, bool units, std::array<int64_t, 4> more,
                                 const std::function<const LibraryKernel&()>& make);

// Returns the device's best tile for a product whose terms are not divided.
const Tile& whole_tile(const mk_device& device, int64_t m, int64_t n, int64_t k);

}  // namespace mokume::opencl
