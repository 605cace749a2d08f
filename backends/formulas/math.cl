#pragma once
// The files of this folder define the functions of docs/explained/numbers.md. The opencl backend compiles them as OpenCL
// C, for vectors of VW floats (common/math.cl), and the host backend as C++, for single floats (isa/formulas.hpp). All
// their operations are exactly defined (fma, products, sums, quotients, roots, integer shifts), so their results are
// bit-identical on all devices with fma.

// Returns exp(x): x = n * ln 2 + r, |r| <= ln 2 / 2, and exp(r) = 1 + r + r^2 * P(r), where P is a degree-5 fit with
// relative error 4e-10. Applies 2^n as two factors, so that results below 2^-126 are rounded once. Normal results are
// within 1 ulp. The result is 0 below -104 and inf above 88.73. NaN gives NaN.
FORMULA vec exp_f32(vec x) {
  const vec low = SPLAT(-104.0f), high = SPLAT(89.0f);
  x = select(x, low, (ivec)(x < low));
  x = select(x, high, (ivec)(x > high));
  // Adding 1.5 * 2^23 rounds to an integer and leaves the integer in the low bits.
  const vec shifted = fma(x, SPLAT(1.44269502f), SPLAT(12582912.0f));
  const vec n = shifted - SPLAT(12582912.0f);
  const ivec power = AS_IVEC(shifted) - AS_IVEC(SPLAT(12582912.0f));
  vec r = fma(n, SPLAT(-0.693145752f), x);
  r = fma(n, SPLAT(-1.42860677e-06f), r);
  vec p = SPLAT(0.000198909882f);
  p = fma(p, r, SPLAT(0.00139336474f));
  p = fma(p, r, SPLAT(0.00833331048f));
  p = fma(p, r, SPLAT(0.0416664667f));
  p = fma(p, r, SPLAT(0.166666672f));
  p = fma(p, r, SPLAT(0.5f));
  p = fma(p * r, r, r) + SPLAT(1.0f);
  const ivec half_power = power >> 1;
  return p * AS_VEC((half_power + 127) << 23) * AS_VEC((power - half_power + 127) << 23);
}

// Returns 1 / x for normal x > 0 below 2^126, within 1 ulp: guesses from the exponent and takes four Newton steps. Does
// not divide, because OpenCL C leaves the rounding of quotients to the device.
#ifndef DIVIDES
FORMULA vec reciprocal(vec x) {
  vec y = AS_VEC((ivec)(0x7EF311C3) - AS_IVEC(x));
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  return fma(y, fma(-x, y, SPLAT(1.0f)), y);
}
#else
// Without fma, where results differ anyway, the steps would cost twice as much as a quotient.
FORMULA vec reciprocal(vec x) { return QUOTIENT(SPLAT(1.0f), x); }
#endif

// Returns tanh(x) within 2 ulp: an odd polynomial with relative error 1e-8 up to 0.55, and 1 - 2 / (exp(2|x|) + 1)
// above. NaN gives NaN.
FORMULA vec tanh_f32(vec x) {
  const vec a = fabs(x), square = x * x;
  vec p = SPLAT(-0.00661022775f);
  p = fma(p, square, SPLAT(0.0213093888f));
  p = fma(p, square, SPLAT(-0.0539094284f));
  p = fma(p, square, SPLAT(0.133331135f));
  p = fma(p, square, SPLAT(-0.333333313f));
  p = fma(p * square, x, x);
  const vec e = exp_f32(SPLAT(2.0f) * select(a, SPLAT(10.0f), (ivec)(a > SPLAT(10.0f))));
  const vec q = copysign(fma(SPLAT(-2.0f), reciprocal(e + SPLAT(1.0f)), SPLAT(1.0f)), x);
  // For NaN, the comparison is false, and p is NaN, too.
  return select(p, q, (ivec)(a > SPLAT(0.55f)));
}

// Returns erf(x) within 2 ulp: x + x P(x^2) up to 1, and 1 - exp(-Q(|x|)) above. P and Q are minimax fits of degrees 6
// and 7 with relative errors 2^-29 and 2^-35. NaN gives NaN.
FORMULA vec erf_f32(vec x) {
  const vec a = fabs(x), square = x * x, t = select(a, SPLAT(4.0f), (ivec)(a > SPLAT(4.0f)));
  vec p = SPLAT(7.85395459e-5f);
  p = fma(p, square, SPLAT(-0.000801022456f));
  p = fma(p, square, SPLAT(0.00518833147f));
  p = fma(p, square, SPLAT(-0.0268538147f));
  p = fma(p, square, SPLAT(0.112835854f));
  p = fma(p, square, SPLAT(-0.37612626f));
  p = fma(p, square, SPLAT(0.128379166f));
  vec q = SPLAT(2.16976496e-5f);
  q = fma(q, t, SPLAT(-0.000441473094f));
  q = fma(q, t, SPLAT(0.00420528697f));
  q = fma(q, t, SPLAT(-0.025210347f));
  q = fma(q, t, SPLAT(0.108422108f));
  q = fma(q, t, SPLAT(0.633216381f));
  q = fma(q, t, SPLAT(1.12958026f));
  q = fma(q, t, SPLAT(-0.000188469174f));
  const vec large = copysign(SPLAT(1.0f) - exp_f32(-q), x);
  // For NaN, the comparison is false, and p is NaN, too.
  return select(fma(x, p, x), large, (ivec)(a > SPLAT(1.0f)));
}

// Returns log(x) within 2 ulp for normal x > 0, and NaN and inf unchanged: x = 2^n * m, m in [sqrt(1/2), sqrt(2)),
// f = m - 1, and log(1 + f) = f - f^2 / 2 + f^3 * P(f), where P is the degree-8 fit of Cephes' logf (S. Moshier).
FORMULA vec log_f32(vec x) {
  // sqrt(1/2) has the bits 3F3504F3. Larger mantissas count towards the next exponent.
  const ivec shifted = AS_IVEC(x) - (ivec)(0x3F3504F3);
  const ivec power = shifted >> 23;
  const vec f = AS_VEC(AS_IVEC(x) - (power << 23)) - SPLAT(1.0f);
  const vec n = AS_VEC(power + (ivec)(0x4B400000)) - SPLAT(12582912.0f);
  vec p = SPLAT(0.070376836292f);
  p = fma(p, f, SPLAT(-0.1151461031f));
  p = fma(p, f, SPLAT(0.11676998740f));
  p = fma(p, f, SPLAT(-0.12420140846f));
  p = fma(p, f, SPLAT(0.14249322787f));
  p = fma(p, f, SPLAT(-0.16668057665f));
  p = fma(p, f, SPLAT(0.20000714765f));
  p = fma(p, f, SPLAT(-0.24999993993f));
  p = fma(p, f, SPLAT(0.33333331174f));
  const vec square = f * f;
  p = p * square * f;
  p = fma(n, SPLAT(-2.12194440e-4f), p);
  p = fma(SPLAT(-0.5f), square, p);
  p = fma(n, SPLAT(0.693359375f), f + p);
  return select(x, p, (ivec)(x < SPLAT(INFINITY)));
}
