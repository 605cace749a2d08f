// Defines sizes that all products share.
#pragma once

#include <cstdint>

namespace mokume::opencl {

constexpr int64_t kBlock = 256;                          // number of terms of a chain of fma() (gemm.hpp)
constexpr int64_t kMostTerms = int64_t{1} << 30;         // limit for a block of terms and for a launch
constexpr int64_t kWorkspaceFloats = int64_t{32} << 20;  // approximate size of each of the two workspaces

}  // namespace mokume::opencl
