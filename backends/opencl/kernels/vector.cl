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
#define VSTORE JOIN(vstore, VW)
#endif
// A vec of one value.
#define SPLAT(x) ((vec)(x))

// A hint to fetch a cache line. Only where the host says so: on PoCL it is an instruction, drivers that go through SPIR-V
// abort the process over it.
#ifdef HINTS
#define FETCH(p) __builtin_prefetch((const void*)(size_t)(p))
#define FETCH_TO_WRITE(p) __builtin_prefetch((const void*)(size_t)(p), 1)
#else
#define FETCH(p)
#define FETCH_TO_WRITE(p)
#endif
