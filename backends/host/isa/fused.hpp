// Defines the fused multiply-add of the loops: fused(a, b, c) is a * b + c, rounded once. Nothing else in the loops is
// fused (-ffp-contract=off), so the instructions of a sum are those that its source shows.
//
// The loops of `base` exist twice. Fast numerics round product and sum separately, because the processor has no such
// instruction. Strict numerics (MOKUME_HOST_EXACT) emulate it.
#pragma once

#include <stdint.h>

#include "sdk/rounded_to_odd.hpp"

#ifndef MOKUME_HOST_ISA
#error "built once per instruction set: see backends/host/CMakeLists.txt"
#endif

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

#if defined(__FMA__) || defined(__aarch64__)
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#elif defined(MOKUME_HOST_EXACT)
inline float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  return static_cast<float>(sdk::rounded_to_odd<int64_t>(product, static_cast<double>(c)));
}
#else
inline float fused(float a, float b, float c) { return a * b + c; }
#endif

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
