// The build compiles this file once per instruction set, which SOLVER_ISA names. The sums have the order of
// kernels/distances.cl.
#include "matrix/distances_native.hpp"

#include <algorithm>

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

template <bool kChiSquared>
Floats terms(const Floats& x, const Floats& y) {
  const Floats difference = x - y, zero = spread(0);
  if constexpr (kChiSquared) {
    const Floats sum = x + y;
    return sum > zero ? difference * difference / (sum > zero ? sum : spread(1)) : zero;
  } else {
    return difference < zero ? -difference : difference;
  }
}

// Adds the terms of kBlock elements to the sums, one sum for each element.
template <bool kChiSquared>
void add_terms(const float* x, const float* y, Floats sums[kVectors]) {
  for (int64_t v = 0; v < kVectors; ++v) sums[v] += terms<kChiSquared>(at(x, v), at(y, v));
}

template <bool kChiSquared>
void write_distances(const float* x, const float* y, int64_t y_ld, int64_t columns, int64_t features,
                     float* out) noexcept {
  const int64_t whole = features / kBlock * kBlock, rest = features - whole;
  float x_rest[kBlock] = {}, y_rest[kBlock] = {}, sums[kBlock];
  std::copy_n(x + whole, rest, x_rest);
  for (int64_t c = 0; c < columns; ++c) {
    const float* const yc = y + c * y_ld;
    Floats parts[kVectors] = {};
    for (int64_t f = 0; f < whole; f += kBlock) add_terms<kChiSquared>(x + f, yc + f, parts);
    if (rest > 0) {
      std::copy_n(yc + whole, rest, y_rest);
      add_terms<kChiSquared>(x_rest, y_rest, parts);
    }
    for (int64_t v = 0; v < kVectors; ++v) at(sums, v) = parts[v];
    for (int64_t width = kBlock / 2; width > 0; width /= 2)
      for (int64_t t = 0; t < width; ++t) sums[t] += sums[t + width];
    out[c] = -0.5F * sums[0];
  }
}

}  // namespace

DistancesFunction distances(bool chi_squared) noexcept {
  return chi_squared ? write_distances<true> : write_distances<false>;
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

DistancesFunction distances_native(bool chi_squared) { return SOLVER_BEST(distances)(chi_squared); }

}  // namespace mokume::svc
#endif
