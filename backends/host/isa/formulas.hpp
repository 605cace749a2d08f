// Compiles the functions of backends/formulas as C++, in which a vec is one float and compilers vectorise loops over
// it.
#pragma once

#include <stdint.h>
#include <string.h>

#include "isa/fused.hpp"
#include "isa/network.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

#define FORMULA inline __attribute__((always_inline))
typedef float vec;
typedef int32_t ivec;

FORMULA vec as_vec(ivec bits) {
  vec value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
FORMULA ivec as_ivec(vec value) {
  ivec bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
FORMULA vec select(vec no, vec yes, ivec condition) { return condition != 0 ? yes : no; }
FORMULA vec fma(vec a, vec b, vec c) { return fused(a, b, c); }
FORMULA vec fabs(vec x) { return __builtin_fabsf(x); }
FORMULA vec copysign(vec size, vec sign) { return __builtin_copysignf(size, sign); }

#define AS_VEC as_vec
#define AS_IVEC as_ivec
#define SPLAT(x) (static_cast<vec>(x))
#define FIRST(v) (v)
#define QUOTIENT(a, b) ((a) / (b))
#define ROOT(x) __builtin_sqrtf(x)
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define STEP_NUMBERS StepNumbers&
#if !defined(__FMA__) && !defined(__aarch64__) && !defined(MOKUME_HOST_EXACT)
#define DIVIDES
#endif

#include "formulas/activations.cl"
#include "formulas/average.cl"
#include "formulas/kernel_function.cl"
#include "formulas/losses.cl"
#include "formulas/lrn.cl"
#include "formulas/math.cl"
#include "formulas/optimizer.cl"

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
