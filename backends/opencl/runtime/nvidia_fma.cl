// Every program for NVIDIA's compiler begins with this text. That compiler's fma() keeps subnormal floats even with
// -cl-denorms-are-zero (seen with driver 580), although sums and comparisons of the same program treat them as zeros.
// The instruction below does what the option says, at the same speed.
#ifdef __NV_CL_C_VERSION
#define OVERLOADED static __attribute__((overloadable, always_inline))
OVERLOADED float flushing_fma(float a, float b, float c) {
  float sum;
  __asm__("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
  return sum;
}
OVERLOADED float2 flushing_fma(float2 a, float2 b, float2 c) {
  return (float2)(flushing_fma(a.x, b.x, c.x), flushing_fma(a.y, b.y, c.y));
}
#define FLUSHING_FMA(type)                                                                     \
  OVERLOADED type flushing_fma(type a, type b, type c) {                                       \
    return (type)(flushing_fma(a.lo, b.lo, c.lo), flushing_fma(a.hi, b.hi, c.hi)); \
  }
FLUSHING_FMA(float4)
FLUSHING_FMA(float8)
FLUSHING_FMA(float16)
OVERLOADED float3 flushing_fma(float3 a, float3 b, float3 c) {
  return (float3)(flushing_fma(a.x, b.x, c.x), flushing_fma(a.yz, b.yz, c.yz));
}
#ifdef cl_khr_fp64
OVERLOADED double flushing_fma(double a, double b, double c) { return fma(a, b, c); }
#endif
#define fma flushing_fma
#undef FLUSHING_FMA
#undef OVERLOADED
#endif
#line 1
