// Defines vectors of floats for the loops of one instruction set. They are in an unnamed namespace, so that no
// instruction set's copy of a function replaces another's.
#pragma once

#include <stdint.h>
#include <string.h>

#include "isa/fused.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));
typedef float Sixteen __attribute__((vector_size(64)));

#if defined(__AVX512F__)
using Widest = Sixteen;
#elif defined(__AVX2__)
using Widest = Eight;
#else
using Widest = Four;
#endif

#if defined(__AVX512F__)
inline Widest fused(Widest a, Widest b, Widest c) { return _mm512_fmadd_ps(a, b, c); }
#elif defined(__FMA__)
inline Widest fused(Widest a, Widest b, Widest c) { return _mm256_fmadd_ps(a, b, c); }
#elif defined(__aarch64__)
inline Widest fused(Widest a, Widest b, Widest c) { return vfmaq_f32(c, a, b); }
#elif defined(MOKUME_HOST_EXACT)
inline Widest fused(Widest a, Widest b, Widest c) {
  for (int i = 0; i < 4; ++i) c[i] = fused(a[i], b[i], c[i]);
  return c;
}
#else
inline Widest fused(Widest a, Widest b, Widest c) { return a * b + c; }
#endif

template <class V>
struct LanesOf {
  static constexpr int kCount = sizeof(V) / sizeof(float);

  static V load(const float* from) {
    V v;
    memcpy(&v, from, sizeof(v));
    return v;
  }
  static void store(V v, float* to, int64_t lanes = kCount) {
    if (lanes == kCount)
      memcpy(to, &v, sizeof(v));
    else
      for (int64_t i = 0; i < lanes; ++i) to[i] = v[i];
  }
};

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
