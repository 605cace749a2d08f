// Defines QUOTIENT() and ROOT() of floats and of a vec. With EXACT, which strict numerics sets on a device that does not
// promise to round quotients and square roots correctly, they are made of fma() and exact operations.
#include "common/vector.cl"

#ifdef EXACT
#define QUOTIENT(a, b) exact_quotient(a, b)
#define ROOT(x) exact_root(x)
#define OVERLOADED static __attribute__((overloadable))
#define FRACTION_BITS 0x007FFFFF
#define EXPONENT_BITS 0x7F800000
#define SIGN_BIT ((int)0x80000000)
// Both functions compute with fractions from 1 to 2, or to 4, and correct an approximation by the sign and size of what
// is left, which fma() computes without error. A remainder is never exactly between two floats. The results of special
// values, among which a subnormal number is 0, are those of the device.
#define FLUSHED(name, T, I, AS_T, AS_I) \
  OVERLOADED T name(T x) { return select(x, AS_T(AS_I(x) & SIGN_BIT), (I)((AS_I(x) & EXPONENT_BITS) == 0)); }
#define EXACT_QUOTIENT(name, T, I, AS_T, AS_I)                                                                  \
  OVERLOADED T name(T a, T b) {                                                                                 \
    const I a_power = (AS_I(a) & EXPONENT_BITS) >> 23, b_power = (AS_I(b) & EXPONENT_BITS) >> 23;               \
    const T x = AS_T((AS_I(a) & FRACTION_BITS) | 0x3F800000), y = AS_T((AS_I(b) & FRACTION_BITS) | 0x3F800000); \
    T inverse = AS_T((I)(0x7EF311C3) - AS_I(y));                                                                \
    for (int step = 0; step < 4; ++step) inverse = fma(inverse, fma(-y, inverse, (T)(1.0f)), inverse);          \
    T q = x * inverse;                                                                                          \
    q = fma(fma(-q, y, x), inverse, q);                                                                         \
    const T above = AS_T(AS_I(q) + 1), below = AS_T(AS_I(q) - 1), left = fabs(fma(-q, y, x)),                   \
            left_above = fabs(fma(-above, y, x)), left_below = fabs(fma(-below, y, x));                         \
    q = select(q, above, (I)(left_above < left));                                                               \
    q = select(q, below, (I)(left_below < left));                                                               \
    const I power = a_power - b_power, half_power = power >> 1;                                                 \
    q = q * AS_T((half_power + 127) << 23) * AS_T((power - half_power + 127) << 23);                            \
    q = AS_T(AS_I(q) | ((AS_I(a) ^ AS_I(b)) & SIGN_BIT));                                                       \
    const I special = (I)((a_power == 0) | (a_power == 255) | (b_power == 0) | (b_power == 255));               \
    return select(q, flushed(a) / flushed(b), special);                                                         \
  }
#define EXACT_ROOT(name, T, I, AS_T, AS_I)                                                                            \
  OVERLOADED T name(T x) {                                                                                      \
    const I power = AS_I(x) >> 23, odd = (power + 1) & 1;                                                       \
    const T y = AS_T((AS_I(x) & FRACTION_BITS) | ((odd + 127) << 23));                                          \
    T r = sqrt(y);                                                                                              \
    r = fmax(fma(fma(-r, r, y), 0.5f / r, r), (T)(1.0f));                                                       \
    const T left = fma(-r, r, y), unit = r * 0x1p-23f;                                                          \
    const I one = (I)(1), none = (I)(0);                                                                        \
    r = AS_T(AS_I(r) + select(none, one, (I)(left > unit)) - select(none, one, (I)(left <= -unit)));            \
    r = AS_T(AS_I(r) + ((power - 127 - odd) >> 1 << 23));                                                       \
    return select(r, sqrt(flushed(x)), (I)((power <= 0) | (power == 255)));                                     \
  }
FLUSHED(flushed, float, int, as_float, as_int)
EXACT_QUOTIENT(exact_quotient, float, int, as_float, as_int)
EXACT_ROOT(exact_root, float, int, as_float, as_int)
#if VW != 1
FLUSHED(flushed, vec, ivec, AS_VEC, AS_IVEC)
EXACT_QUOTIENT(exact_quotient, vec, ivec, AS_VEC, AS_IVEC)
EXACT_ROOT(exact_root, vec, ivec, AS_VEC, AS_IVEC)
#endif
#else
#define QUOTIENT(a, b) ((a) / (b))
#define ROOT(x) sqrt(x)
#endif
