// vec: VW floats, VW being 1, 4, 8 or 16; ivec: as many ints.
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
// PoCL takes a vload or vstore of 16 apart into four. Where the host says so, the compiler is clang, which knows how to
// load and store a vector that lies anywhere.
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
// A vec of one value.
#define SPLAT(x) ((vec)(x))

// A hint to fetch a cache line. Only where the host says so: on PoCL it is an instruction, drivers that go through SPIR-V
// abort the process over it.
#ifdef HINTS
#define FETCH(p) __builtin_prefetch((const void*)(size_t)(p))
#define FETCH_EARLY(p) __builtin_prefetch((const void*)(size_t)(p), 0, 2)  // not into the first cache, which is small
#define FETCH_TO_WRITE(p) __builtin_prefetch((const void*)(size_t)(p), 1)
#else
#define FETCH(p)
#define FETCH_EARLY(p)
#define FETCH_TO_WRITE(p)
#endif
