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
#if !defined(WHOLE_VECTORS) && !defined(ALIGNED)
#define VLOAD JOIN(vload, VW)
#define VSTORE JOIN(vstore, VW)
#else
// With WHOLE_VECTORS, PoCL loads a vector of 16 at once, which it would split into four for a vload; its compiler, clang,
// loads and stores vectors at any address. With ALIGNED, vectors of global floats start at multiples of 16 bytes, so that
// a GPU loads them at once.
#define VLOAD load_vector
#define VSTORE store_vector
#define WHOLE_VECTOR(space, type, element, alignment)                                                                 \
  static __attribute__((overloadable, always_inline)) JOIN(type, VW) load_vector(long i, space const element* p) {    \
    typedef JOIN(type, VW) anywhere __attribute__((aligned(alignment)));                                              \
    return *(space const anywhere*)(p + i * VW);                                                                      \
  }                                                                                                                   \
  static __attribute__((overloadable, always_inline)) void store_vector(JOIN(type, VW) v, long i, space element* p) { \
    typedef JOIN(type, VW) anywhere __attribute__((aligned(alignment)));                                              \
    *(space anywhere*)(p + i * VW) = v;                                                                               \
  }
#ifdef ALIGNED
WHOLE_VECTOR(__global, float, float, 16)
#else
WHOLE_VECTOR(__global, float, float, 4)
#endif
WHOLE_VECTOR(__private, float, float, 4)
WHOLE_VECTOR(__global, int, int, 4)
WHOLE_VECTOR(__private, int, int, 4)
WHOLE_VECTOR(__global, uint, uint, 4)
WHOLE_VECTOR(__private, uint, uint, 4)
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
