// Defines vectors of floats for the loops of one instruction set. They are in an unnamed namespace, so that no
// instruction set's copy of a function replaces another's.
#pragma once

#include <stdint.h>
#include <string.h>

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
  static void store(V v, float* to, int64_t lanes = kCount) {
    if (lanes == kCount)
      memcpy(to, &v, sizeof(v));
    else
      for (int64_t i = 0; i < lanes; ++i) to[i] = v[i];
  }
};

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
