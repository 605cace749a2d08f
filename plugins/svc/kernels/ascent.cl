// Moves the multipliers of linear machines on features, one row at a time (docs/adr/0059). A machine's decision value is
// w * x + b, where w is the sum of multiplier * x over all rows. A multiplier has the sign of its row, or either sign in
// a regression, and moves to where the derivative of the dual objective is zero, or to a bound. The bias is
// centre + elastic * (sum of the multipliers), as if it were the weight of a constant feature; between passes, the host
// moves the centre to the bias, until the sum is zero. Partial sum k % 128 takes term k of a dot product, in both
// variants and in ascent_native.cpp.
#pragma OPENCL FP_CONTRACT OFF
#define UNIT 128

#define I_SIGNS 0
#define I_STEP 1
#define I_START 2
#define I_ALL 3
#define I_MOVED 4
#define INTS 5

#define F_C 0
#define F_C_MINUS 1
#define F_EPSILON 2
#define F_CENTRE 3
#define F_ELASTIC 4
#define F_SUM 5
#define F_SUM_REST 6
#define F_VIOLATION 7
#define FLOATS 8

#ifndef REGRESSION
#define REGRESSION 0
#endif

// Computes a rounded product to which the caller adds later. No compiler may fuse it with the sum (ADR 42).
#define PRODUCT(T, a, b) fma((T)(a), (T)(b), (T)(0.0f))

#define ARGUMENTS                                                                                                      \
  __global const int *order, __global int *ints, __global float *floats, __global const char *signs,                  \
      __global const float *target, __global const float *weight, __global const float *norms,                        \
      __global float *multipliers, __global char *active, __global float *weights, const long rows, const long width, \
      const int first, const int count, __global const float *k0, __global const float *k1, __global const float *k2, \
      __global const float *k3, __global const float *k4, __global const float *k5, __global const float *k6,         \
      __global const float *k7, const int panel_rows

// Opens a place: its state in private variables, and its part of each array.
#define OPEN(place)                                                                          \
  __global int* si = ints + place * INTS;                                                    \
  __global float* sf = floats + place * FLOATS;                                              \
  __global const char* sign = signs + si[I_SIGNS] * rows;                                    \
  multipliers += place * rows;                                                               \
  active += place * rows;                                                                    \
  weights += place * width;                                                                  \
  const float epsilon = sf[F_EPSILON], elastic = sf[F_ELASTIC], centre = sf[F_CENTRE];       \
  float sum = sf[F_SUM], rest = sf[F_SUM_REST], most = sf[F_VIOLATION];                      \
  int moves = si[I_MOVED]

#define FEATURES(row) features_of(row, k0, k1, k2, k3, k4, k5, k6, k7, panel_rows, width)

__global const float* features_of(int row, __global const float* k0, __global const float* k1,
                                  __global const float* k2, __global const float* k3, __global const float* k4,
                                  __global const float* k5, __global const float* k6, __global const float* k7,
                                  int panel_rows, long width) {
  const int panel = row / panel_rows;
  const long at = (long)(row - panel * panel_rows) * width;
  switch (panel) {
    case 0:
      return k0 + at;
    case 1:
      return k1 + at;
    case 2:
      return k2 + at;
    case 3:
      return k3 + at;
    case 4:
      return k4 + at;
    case 5:
      return k5 + at;
    case 6:
      return k6 + at;
    default:
      return k7 + at;
  }
}

// Returns how far the derivative `g` points into the interval [low, high] at `a`: 0 if `a` is optimal.
float violation_of(float a, float g, float epsilon, float low, float high) {
  const float right = g + (a >= 0.0f ? epsilon : -epsilon), left = g + (a > 0.0f ? epsilon : -epsilon);
  if (a < high && right < 0.0f) return -right;
  return a > low && left > 0.0f ? left : 0.0f;
}

// Returns the multiplier that minimises the dual objective, whose second derivative is `q`.
float moved(float a, float g, float q, float epsilon, float low, float high) {
  const float lower = a - (g + epsilon) / q, upper = a - (g - epsilon) / q;
  const float to = lower > 0.0f ? lower : (upper < 0.0f ? upper : 0.0f);
  return to < low ? low : (to > high ? high : to);
}

// Adds x to a sum of two floats.
void add_to(float* sum, float* rest, float x) {
  const float s = *sum + x, t = s - *sum;
  const float l = *rest + ((*sum - (s - t)) + (x - t));
  *sum = s + l;
  *rest = l - (*sum - s);
}

float sum_of_lanes(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.lo + c.hi;
}
