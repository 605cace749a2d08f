// Defines vec, which holds VW floats, and ivec, which holds as many ints. VW is 1, 4, 8 or 16.
#include "common/common.cl"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if VW == 1
typedef float vec;
typedef int ivec;
#define AS_VEC as_float
#define AS_IVEC as_int
#define VLOAD(i, p) (p)[i]
#define VSTORE(v, i, p) (p)[i] = (v)
#else
typedef JOIN(float, VW) vec;
typedef JOIN(int, VW) ivec;
#define AS_VEC JOIN(as_float, VW)
#define AS_IVEC JOIN(as_int, VW)
#ifndef WHOLE_VECTORS
#define VLOAD JOIN(vload, VW)
#define VSTORE JOIN(vstore, VW)
#else
// PoCL splits a vload or vstore of 16 elements into four. The host defines WHOLE_VECTORS only for PoCL, whose compiler
// is clang, which can load and store a vector at any address.
#define VLOAD load_vector
#define VSTORE store_vector
#define WHOLE_VECTOR(space, type, element)                                                                     \
  static __attribute__((overloadable, always_inline)) JOIN(type, VW) load_vector(long i, space const element* p) {    \
    typedef JOIN(type, VW) anywhere __attribute__((aligned(4)));                                               \
    return *(space const anywhere*)(p + i * VW);                                                               \
  }                                                                                                            \
  static __attribute__((overloadable, always_inline)) void store_vector(JOIN(type, VW) v, long i, space element* p) { \
    typedef JOIN(type, VW) anywhere __attribute__((aligned(4)));                                               \
    *(space anywhere*)(p + i * VW) = v;                                                                        \
  }
WHOLE_VECTOR(__global, float, float)
WHOLE_VECTOR(__private, float, float)
WHOLE_VECTOR(__global, int, int)
WHOLE_VECTOR(__private, int, int)
WHOLE_VECTOR(__global, uint, uint)
WHOLE_VECTOR(__private, uint, uint)
#endif
#endif
#define SPLAT(x) ((vec)(x))

// Prefetch a cache line if the host defines HINTS. PoCL turns each hint into an instruction, but drivers that use
// SPIR-V abort the process.
#ifdef HINTS
#define FETCH(p) __builtin_prefetch((const void*)(size_t)(p))
#define FETCH_EARLY(p) __builtin_prefetch((const void*)(size_t)(p), 0, 2)  // skips the small first-level cache
#define FETCH_TO_WRITE(p) __builtin_prefetch((const void*)(size_t)(p), 1)
#else
#define FETCH(p)
#define FETCH_EARLY(p)
#define FETCH_TO_WRITE(p)
#endif
