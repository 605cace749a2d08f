// Computes CPU products with packed panels and register tiles (vector.cl).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Holds the sizes of register tiles and panels.
struct VectorSizes {
  explicit VectorSizes(int64_t width) : mr(width == 16 ? 14 : 6), nr(2 * width), skinny_rows(width == 16 ? 12 : 8) {}
  int64_t mr, nr, skinny_rows;
  static constexpr int64_t kShortPanel = 16, kPackPanels = 4;
};

// Returns the number of rows of a long operand per work-item, which takes `side` rows at a time: enough to make a
// launch worthwhile, and few enough to balance the load.
int64_t rows_each(const mk_device& device, int64_t rows, int64_t side);

// Return the macros of vector.cl and of the files that include it.
std::string vector_options(int width);
std::string vector_options(const mk_device& device);

const LibraryKernel& vector_kernel(mk_device& device, const char* name);

// Packs `rows` rows starting at x into panels of `width` rows, over k terms, with one of the pack kernels.
void pack(Launcher& launcher, const char* kernel, cl_mem memory, const Operand& x, int64_t rows, int64_t k,
          int64_t width, cl_mem to);

void gemm_packed(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
