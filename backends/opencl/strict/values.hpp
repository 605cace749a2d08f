// The values that strict numerics compares with the host's when it opens a device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mokume::opencl {

inline constexpr size_t kStrictCount = 4096;
inline constexpr const char* kFuses = "its compiler fuses products with sums";

// Returns a, b and c: pairs of special values, squares of numbers between two floats, whose roots are hard to round,
// and numbers of all sizes for which a product and a sum cancel.
std::vector<float> strict_operands();

// Returns what a device does wrong that computed fma(a, b, c), a * b + c, a / b and the root of a, or "".
std::string strict_fault(const std::vector<float>& in, const std::vector<float>& out);

}  // namespace mokume::opencl
