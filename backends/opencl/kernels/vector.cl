// vec: VW floats, VW being 1, 4, 8 or 16; ivec: as many ints. Shared by the kernels below it, after common.cl.

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
#define VLOAD JOIN(vload, VW)
#ifndef WHOLE_STORES
#define VSTORE JOIN(vstore, VW)
#else
// PoCL takes a vstore of 16 apart into four stores. Where the host says so, the compiler is clang, which knows how to
// store a vector that lies anywhere.
#define VSTORE store_vector
#define STORE_VECTOR(type, space, element)                                                                  \
  __attribute__((overloadable, always_inline)) void store_vector(JOIN(type, VW) v, long i, space element* p) { \
    typedef JOIN(type, VW) anywhere __attribute__((aligned(4)));                                            \
    *(space anywhere*)(p + i * VW) = v;                                                                     \
  }
STORE_VECTOR(float, __global, float)
STORE_VECTOR(float, __private, float)
STORE_VECTOR(int, __global, int)
STORE_VECTOR(int, __private, int)
STORE_VECTOR(uint, __global, uint)
STORE_VECTOR(uint, __private, uint)
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
