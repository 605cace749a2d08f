// Divides into whole parts.
#pragma once

#include <cstdint>

namespace mokume::opencl {

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

}  // namespace mokume::opencl
