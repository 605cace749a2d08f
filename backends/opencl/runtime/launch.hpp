// Defines a launch: a range of work-items and the arguments of a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/cl.hpp"

namespace mokume::opencl {

struct Range {
  std::array<int64_t, 3> global, local{1, 1, 1};

  bool operator==(const Range&) const = default;
};

// Holds the numbers of work-groups per dimension that every GPU accepts. NVIDIA's and AMD's GPUs accept 65,535 in the
// second and the third dimension, so kernels for GPUs use the first dimension or loop.
inline constexpr std::array<int64_t, 3> kMostGroups{2'147'483'647, 65'535, 65'535};

// Holds the arguments in the order of the kernel's parameters. Local memory is an argument, because a function that a
// kernel calls cannot declare any.
struct Arguments {
  const char* type;  // name of the struct (common/args.h)
  std::span<const std::byte> values;
  std::span<const cl_mem> buffers;
  int64_t local_floats = 0;
};

}  // namespace mokume::opencl
