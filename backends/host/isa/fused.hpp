// Defines the fused multiply-add of the loops: fused(a, b, c) is a * b + c, rounded once. Nothing else in the loops is
// fused (-ffp-contract=off), so the instructions of a sum are those that its source shows.
//
// The loops of `base` exist twice. Fast numerics round product and sum separately, because the processor has no such
// instruction. Strict numerics (MOKUME_HOST_EXACT) emulate it.
#pragma once

#include <stdint.h>
#include <string.h>

#ifndef MOKUME_HOST_ISA
#error "built once per instruction set: see backends/host/CMakeLists.txt"
#endif

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

#if defined(__FMA__) || defined(__aarch64__)
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#elif defined(MOKUME_HOST_EXACT)
// The product of two floats is exact as a double. The sum is rounded to odd (S. Boldo, G. Melquiond: Emulation of FMA
// and correctly rounded sums: proved algorithms using rounding to odd. IEEE Trans. Computers 57(4), 2008): if it is
// inexact, its last bit becomes 1, so that the second rounding, to float, sees on which side of a tie it lies.
inline float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b), more = static_cast<double>(c);
  double sum = product + more;
  const double of_more = sum - product;
  const double rest = (product - (sum - of_more)) + (more - of_more);
  int64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  const int64_t outwards = (rest > 0) == (sum > 0) ? 1 : -1;
  const bool inexact = (rest > 0) | (rest < 0);  // false for NaN, which infinite sums leave
  bits += inexact && (bits & 1) == 0 ? outwards : 0;
  memcpy(&sum, &bits, sizeof sum);
  return static_cast<float>(sum);
}
#else
inline float fused(float a, float b, float c) { return a * b + c; }
#endif

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
