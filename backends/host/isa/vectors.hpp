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

template <class V>
struct LanesOf {
  static constexpr int kCount = sizeof(V) / sizeof(float);

  static V load(const float* from) {
    V v;
    memcpy(&v, from, sizeof(v));
    return v;
  }
  static void store(V v, float* to) { memcpy(to, &v, sizeof(v)); }

  // Load or store the first `lanes` elements, if there are more lanes than that. The other lanes are 0.
  static V load(const float* from, int64_t lanes) {
    if (lanes >= kCount) return load(from);
#if defined(__AVX512F__)
    if constexpr (kCount == 16) return _mm512_maskz_loadu_ps(mask(lanes), from);
#elif defined(__FMA__)
    if constexpr (kCount == 8) return _mm256_maskload_ps(from, mask(lanes));
#endif
    V v{};
    for (int64_t i = 0; i < lanes; ++i) v[i] = from[i];
    return v;
  }
  static void store(V v, float* to, int64_t lanes) {
    if (lanes >= kCount) return store(v, to);
#if defined(__AVX512F__)
    if constexpr (kCount == 16) return _mm512_mask_storeu_ps(to, mask(lanes), v);
#elif defined(__FMA__)
    if constexpr (kCount == 8) return _mm256_maskstore_ps(to, mask(lanes), v);
#endif
    for (int64_t i = 0; i < lanes; ++i) to[i] = v[i];
  }

 private:
#if defined(__AVX512F__)
  static __mmask16 mask(int64_t lanes) { return static_cast<__mmask16>((1U << lanes) - 1U); }
#elif defined(__FMA__)
  static __m256i mask(int64_t lanes) {
    static constexpr int32_t kMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + 8 - lanes));
  }
#endif
};

// Returns a vector whose lanes all hold x. (Compilers fold the difference, which is x for every x.)
template <class V>
inline V splat(float x) {
  return x - V{};
}

// Compute a * b + c in each lane, as fused() in fused.hpp does.
#if defined(__FMA__)
inline Four fused(Four a, Four b, Four c) { return _mm_fmadd_ps(a, b, c); }
inline Eight fused(Eight a, Eight b, Eight c) { return _mm256_fmadd_ps(a, b, c); }
#if defined(__AVX512F__)
inline Sixteen fused(Sixteen a, Sixteen b, Sixteen c) { return _mm512_fmadd_ps(a, b, c); }
#endif
#elif defined(__aarch64__)
inline Four fused(Four a, Four b, Four c) { return vfmaq_f32(c, a, b); }
#elif defined(MOKUME_HOST_EXACT)
// Emulates two lanes.
typedef float Two __attribute__((vector_size(8)));
typedef double TwoDoubles __attribute__((vector_size(16)));
typedef int64_t TwoWords __attribute__((vector_size(16)));
inline Two fused(Two a, Two b, Two c) {
  const TwoDoubles product = __builtin_convertvector(a, TwoDoubles) * __builtin_convertvector(b, TwoDoubles);
  return __builtin_convertvector(sdk::rounded_to_odd<TwoWords>(product, __builtin_convertvector(c, TwoDoubles)), Two);
}
inline Four fused(Four a, Four b, Four c) {
  struct Halves {
    Two half[2];
  } x, y, z;
  memcpy(&x, &a, sizeof a);
  memcpy(&y, &b, sizeof b);
  memcpy(&z, &c, sizeof c);
  for (int h = 0; h < 2; ++h) x.half[h] = fused(x.half[h], y.half[h], z.half[h]);
  memcpy(&a, &x, sizeof a);
  return a;
}
#else
inline Four fused(Four a, Four b, Four c) { return a * b + c; }
#endif

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
