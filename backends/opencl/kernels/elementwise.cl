// Ops that touch each element once or twice. One work-item does rows_each x columns_each elements, VW at a time: whole
// rows on CPUs, one element (VW = 1) on GPUs. Both forms do the same operations on each element, all of them exactly
// defined (fma, products, sums, integer shifts), so results have the same bits on every device that has fma.

// An ivec or vec of one value.
#define SPLAT(x) ((vec)(x))

// exp: x = n * ln 2 + r, |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 * P(r), P a degree-5 fit of relative error 4e-10; 2^n in
// two factors so that results below 2^-126 are rounded once. Within 1 ulp for normal results; 0 below -104, inf above
// 88.73; NaN stays.
vec exp_f32(vec x) {
  const vec low = SPLAT(-104.0f), high = SPLAT(89.0f);
  x = select(x, low, (ivec)(x < low));
  x = select(x, high, (ivec)(x > high));
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
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

// 1 / x for normal x > 0 below 2^126, within 1 ulp: a guess from the exponent and four Newton steps. No division: its
// rounding is the device's own affair in OpenCL C.
vec reciprocal(vec x) {
  vec y = AS_VEC((ivec)(0x7EF311C3) - AS_IVEC(x));
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  y = fma(y, fma(-x, y, SPLAT(1.0f)), y);
  return fma(y, fma(-x, y, SPLAT(1.0f)), y);
}

// tanh: an odd polynomial of relative error 1e-8 up to 0.55, 1 - 2 / (exp(2|x|) + 1) above. Within 2 ulp; NaN stays.
vec tanh_f32(vec x) {
  const vec a = fabs(x), square = x * x;
  vec p = SPLAT(-0.00661022775f);
  p = fma(p, square, SPLAT(0.0213093888f));
  p = fma(p, square, SPLAT(-0.0539094284f));
  p = fma(p, square, SPLAT(0.133331135f));
  p = fma(p, square, SPLAT(-0.333333313f));
  p = fma(p * square, x, x);
  const vec e = exp_f32(SPLAT(2.0f) * select(a, SPLAT(10.0f), (ivec)(a > SPLAT(10.0f))));
  const vec q = copysign(fma(SPLAT(-2.0f), reciprocal(e + SPLAT(1.0f)), SPLAT(1.0f)), x);
  // A NaN is in p too, and fails the comparison.
  return select(p, q, (ivec)(a > SPLAT(0.55f)));
}

#define LINEAR 0
#define POLYNOMIAL 1
#define RBF 2

vec kernel_value(int kind, vec dot, float norm_x, vec norm_y, float gamma, float coef0, int degree) {
  if (kind == LINEAR) return dot;
  if (kind == RBF) {
    const vec distance = fma(SPLAT(-2.0f), dot, SPLAT(norm_x) + norm_y);
    return exp_f32(SPLAT(-gamma) * select(distance, SPLAT(0.0f), (ivec)(distance < SPLAT(0.0f))));
  }
  const vec argument = fma(SPLAT(gamma), dot, SPLAT(coef0));
  if (kind != POLYNOMIAL) return tanh_f32(argument);
  vec power = SPLAT(1.0f);
  for (int i = 0; i < degree; ++i) power *= argument;
  return power;
}

// The first n of VW elements; the others are zero and are not read.
vec load_some(__global const float* p, int n) {
#if VW == 1
  return *p;
#else
  if (n == VW) return VLOAD(0, p);
  float some[VW];
  for (int i = 0; i < VW; ++i) some[i] = i < n ? p[i] : 0.0f;
  return VLOAD(0, some);
#endif
}

void store_some(vec v, __global float* p, int n) {
#if VW == 1
  *p = v;
#else
  if (n == VW) {
    VSTORE(v, 0, p);
    return;
  }
  float some[VW];
  VSTORE(v, 0, some);
  for (int i = 0; i < n; ++i) p[i] = some[i];
#endif
}

// The part of rows x columns that this work-item does: for each of its rows r, runs of n <= VW columns from c.
#define FOR_EACH_RUN                                                                                        \
  const long r0 = (long)get_global_id(1) * rows_each, c0 = (long)get_global_id(0) * columns_each;            \
  const long r1 = min(r0 + rows_each, rows), c1 = min(c0 + columns_each, columns);                          \
  for (long r = r0; r < r1; ++r)                                                                            \
    for (long c = c0; c < c1; c += VW)
#define RUN ((int)min((long)VW, c1 - c))

__kernel void fill(long rows, long columns, long rows_each, long columns_each, __global float* out, long offset,
                   long step, float value) {
  FOR_EACH_RUN store_some(SPLAT(value), out + offset + r * step + c, RUN);
}

// out = keep * out; zero for keep == 0 whatever it was.
__kernel void scale(long rows, long columns, long rows_each, long columns_each, __global float* out, long offset,
                    long step, float keep) {
  FOR_EACH_RUN {
    __global float* at = out + offset + r * step + c;
    store_some(keep == 0.0f ? SPLAT(0.0f) : SPLAT(keep) * load_some(at, RUN), at, RUN);
  }
}

// Without norms (kind other than RBF) norm_x and norm_y are not read.
__kernel void kernel_map(long rows, long columns, long rows_each, long columns_each, __global const float* dot,
                         long dot_offset, long dot_step, __global const float* norm_x, long x_offset,
                         __global const float* norm_y, long y_offset, __global float* out, long out_offset,
                         long out_step, int kind, float gamma, float coef0, int degree) {
  FOR_EACH_RUN {
    const float nx = kind == RBF ? norm_x[x_offset + r] : 0.0f;
    const vec ny = kind == RBF ? load_some(norm_y + y_offset + c, RUN) : SPLAT(0.0f);
    const vec value =
        kernel_value(kind, load_some(dot + dot_offset + r * dot_step + c, RUN), nx, ny, gamma, coef0, degree);
    store_some(value, out + out_offset + r * out_step + c, RUN);
  }
}

// An index outside x gives a row of NaN instead of a read outside the buffer.
__kernel void gather_rows(long rows, long columns, long rows_each, long columns_each, __global const float* x,
                          long x_offset, long x_step, long x_rows, __global const int* index, long index_offset,
                          __global float* out, long out_offset, long out_step) {
  FOR_EACH_RUN {
    const long from = index[index_offset + r];
    const vec value = from < 0 || from >= x_rows ? SPLAT(NAN) : load_some(x + x_offset + from * x_step + c, RUN);
    store_some(value, out + out_offset + r * out_step + c, RUN);
  }
}
