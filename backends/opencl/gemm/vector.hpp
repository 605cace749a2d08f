// What the host has to know about gemm_vector.cl and gemm_skinny.cl, the products of CPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "platforms/describe.hpp"
#include "runtime/device.hpp"

namespace mokume::opencl {

constexpr int64_t kBlock = 256;  // terms of a chain of fma(): see ops_gemm.cpp

// The register tile and pack sizes.
struct VectorSizes {
  explicit VectorSizes(int width) : mr(width == 16 ? 14 : 6), nr(2 * width), skinny_rows(width == 16 ? 12 : 8) {}
  int64_t mr, nr, skinny_rows;
  static constexpr int64_t kShortPanel = 16, kPackPanels = 4;
};

// Rows of a long operand that one work-item does, `side` of them at a time: enough of them for a launch to pay, few
// enough to share well.
inline int64_t rows_each(const mk_device& device, int64_t rows, int64_t side) {
  return side * std::clamp<int64_t>(rows / side / (16 * device.cores), 1, 16);
}

inline std::string vector_options(const mk_device& device, int width) {
  return "-DVW=" + std::to_string(width) + " -DKB=" + std::to_string(kBlock) + hints(device.info);
}
inline std::string vector_options(const mk_device& device) { return vector_options(device, device.vector_width); }

}  // namespace mokume::opencl
