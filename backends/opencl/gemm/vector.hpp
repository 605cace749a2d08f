// Products of CPUs in packed panels and register tiles: vector.cl.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// The register tile and pack sizes.
struct VectorSizes {
  explicit VectorSizes(int64_t width) : mr(width == 16 ? 14 : 6), nr(2 * width), skinny_rows(width == 16 ? 12 : 8) {}
  int64_t mr, nr, skinny_rows;
  static constexpr int64_t kShortPanel = 16, kPackPanels = 4;
};

// Rows of a long operand that one work-item does, `side` of them at a time: enough of them for a launch to pay, few
// enough to share well.
int64_t rows_each(const mk_device& device, int64_t rows, int64_t side);

// The macros of vector.cl and of what includes it.
std::string vector_options(const mk_device& device, int width);
std::string vector_options(const mk_device& device);

// A kernel of vector.cl or skinny.cl.
const LibraryKernel& vector_kernel(mk_device& device, const char* name);

// Packs `rows` rows from x on into panels of `width`, over k terms, by one of the pack kernels.
void pack(Launcher& launcher, const char* kernel, cl_mem memory, const Operand& x, int64_t rows, int64_t k,
          int64_t width, cl_mem to);

void gemm_packed(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
