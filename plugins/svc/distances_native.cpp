// The build compiles this file once per instruction set, which SOLVER_ISA names. The sums have the order of
// kernels/distances.cl.
#include "distances_native.hpp"

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

// Returns the first `count` of 16 elements, and 0 for the others.
Floats first_of(const float* x, int64_t count) {
  Floats some = spread(0);
  for (int64_t t = 0; t < count; ++t) some[t] = x[t];
  return some;
}

template <bool kChiSquared>
void write_distances(const float* x, const float* y, int64_t y_ld, int64_t columns, int64_t features,
                     float* out) noexcept {
  const int64_t whole = features / kLanes, rest = features % kLanes;
  for (int64_t c = 0; c < columns; ++c) {
    const float* const yc = y + c * y_ld;
    Floats sums = spread(0);
    for (int64_t b = 0; b < whole; ++b) sums += terms<kChiSquared>(at(x, b), at(yc, b));
    if (rest > 0) sums += terms<kChiSquared>(first_of(x + whole * kLanes, rest), first_of(yc + whole * kLanes, rest));
    for (int width = kLanes / 2; width > 0; width /= 2)
      for (int t = 0; t < width; ++t) sums[t] += sums[t + width];
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
