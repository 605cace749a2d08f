// Defines the state of problems in their places (places.hpp). Precedes the source of each solver.
//
// All problems share these arrays of `ld` elements (the number of rows rounded up to 16):
//   target  the targets of a regression
//   weight  factors of C in the bounds of the rows' multipliers
//
// Each problem p has:
//   sign    y: +1, -1, or 0 for rows that are not in the problem
//   flags   bits 0 and 1 for rows in I_up and in I_low; in a regression, bits 2 and 3 for multipliers above and below 0
//   f, a    2 * ld floats: high parts, then low parts
//   spans   ranges [first, last) of 16-row blocks that contain the problem's rows; a negative `first` ends the list
//   is, fs  the state, with the indices below
// Up to eight panels store the kernel rows. slot[k] is the panel row that holds row k, or -1 if none does. In that
// case, the problem stops with NEED and the missing row, and continues at the next launch.
#pragma OPENCL FP_CONTRACT OFF

#ifndef REGRESSION
#define REGRESSION 0
#endif

#define BLOCK 16
#define UP 1
#define LOW 2
#define POSITIVE 4
#define NEGATIVE 8
#define TAU 1e-12f
#define MAX_SPANS 64
#define NONE -1

// PoCL splits vload16 and vstore16 into parts of two or four elements. Its compiler, clang, loads and stores vectors at
// any address.
#ifdef HINTS
#define WHOLE(space, element)                                                                                     \
  __attribute__((overloadable, always_inline)) element##16 load16(long i, space const element* p) {               \
    typedef element##16 anywhere __attribute__((aligned(4)));                                                     \
    return *(space const anywhere*)(p + i * 16);                                                                  \
  }                                                                                                               \
  __attribute__((overloadable, always_inline)) void store16(element##16 v, long i, space element* p) {            \
    typedef element##16 anywhere __attribute__((aligned(4)));                                                     \
    *(space anywhere*)(p + i * 16) = v;                                                                           \
  }
WHOLE(__global, float)
WHOLE(__global, int)
WHOLE(__private, float)
WHOLE(__private, int)
#define vload16 load16
#define vstore16 store16
#endif

// Some drivers split any(), fmax() and conversions of 16 elements into 16 scalars, but keep these macros in vectors.
#define ANY16(m) any_long8(as_long8(m))
#define LARGER(a, b) select(a, b, (b) > (a))
int any_long8(long8 m) {
  const long4 a = m.lo | m.hi;
  const long2 b = a.lo | a.hi;
  return (b.x | b.y) != 0;
}

#define RUNNING 0
#define CONVERGED 1
#define NEED 2
#define START 3
#define STUCK 4
#define HANDED_OVER 5  // the solver with large working sets began the problem, and LIBSVM's steps continue it
// The integer state has stride 8.
#define I_STATUS 0
#define I_BEST 1  // first row of the pair; at START the initial row, or NONE to begin at the row with the smallest F
#define I_NEED 2
#define I_STEPS 3
#define I_AT_C 4
#define I_VECTORS 5
#define I_COEF 6  // row of the coefficient matrix to write
#define I_LEFT 7  // remaining steps of the blocked solver
// The float state has stride 9.
#define S_UP 0
#define S_LOW 1
#define S_RHO 2
#define S_C 3
#define S_TOL 4
#define S_UP_REST 5  // low part of S_UP
#define S_C_MINUS 6  // C of rows with sign -1; S_C is C of all other rows
#define S_ROUNDING 7  // bound on the rounding errors in F so far, in the blocked solver
#define S_EPSILON 8  // errors up to this size cost nothing in a regression

// With FP16, kernel rows hold halves (ADR 63), and each becomes the float of its value where it is read.
#ifdef FP16
#define STORED half
#define VALUE(row, k) vload_half(k, row)
#define VALUES(b, row) vload_half16(b, row)
#else
#define STORED float
#define VALUE(row, k) (row)[k]
#define VALUES(b, row) vload16(b, row)
#endif
typedef __global const STORED* row_t;

#define PANELS                                                                                                        \
  __global const STORED *k0, __global const STORED *k1, __global const STORED *k2, __global const STORED *k3,         \
      __global const STORED *k4, __global const STORED *k5, __global const STORED *k6, __global const STORED *k7,     \
      const int panel_rows

row_t kernel_row(int slot, long ld, PANELS) {
  const int panel = slot / panel_rows;
  const long at = (long)(slot - panel * panel_rows) * ld;
  switch (panel) {
    case 0: return k0 + at;
    case 1: return k1 + at;
    case 2: return k2 + at;
    case 3: return k3 + at;
    case 4: return k4 + at;
    case 5: return k5 + at;
    case 6: return k6 + at;
    default: return k7 + at;
  }
}
#define ROW(s) kernel_row(s, ld, k0, k1, k2, k3, k4, k5, k6, k7, panel_rows)

// Declares the state of place p in the arrays that every solver receives.
#define STATE_OF(p)                          \
  __global int* si = is + (p) * 8;           \
  __global float* sf = fs + (p) * 9;         \
  __global const char* y = sign + (p) * ld;  \
  __global int* flags = flags_all + (p) * ld; \
  __global float* f = f_all + (p) * 2 * ld;  \
  __global float* a = a_all + (p) * 2 * ld

// Computes a rounded product to which the caller adds later. FP_CONTRACT OFF forbids compilers to fuse a product with a
// sum, but some of them ignore the pragma, and a fused product breaks the pairs of floats below. No compiler may fuse
// this product, or drop the zero, which changes the sign of a product that is -0.
#define PRODUCT(T, a, b) fma((T)(a), (T)(b), (T)(0.0f))

// Computes k_ii + k_jj - 2 k_ij without a product.
#define CURVATURE(k_ii, k_jj, k_ij) ((k_ii) + (k_jj) - ((k_ij) + (k_ij)))

// Returns the high part of a + b and stores the low part.
float two_sum(float a, float b, float* low) {
  const float s = a + b;
  const float t = s - a;
  *low = (a - (s - t)) + (b - t);
  return s;
}

// Adds x to the double-float (h, l); h is then the rounded sum.
#define ADD_TO(h, l, x)                          \
  do {                                           \
    float e_;                                    \
    const float s_ = two_sum(h, x, &e_);         \
    const float l_ = (l) + e_;                   \
    (h) = s_ + l_;                               \
    (l) = l_ - ((h) - s_);                       \
  } while (0)

// Adds step * t to the double-float (h, l); h is then the rounded sum.
#define ADD_STEP(T, h, l, step, t)                  \
  do {                                              \
    const T t_ = (t);                               \
    const T p_ = PRODUCT(T, step, t_);              \
    const T q_ = fma((T)(step), t_, -p_);           \
    const T s_ = (h) + p_;                          \
    const T b_ = s_ - (h);                          \
    const T e_ = ((h) - (s_ - b_)) + (p_ - b_);     \
    (l) += e_ + q_;                                 \
    (h) = s_ + (l);                                 \
    (l) -= (h) - s_;                                \
  } while (0)

// Returns LIBSVM's rho: the mean of F over the free rows or, without free rows, the middle of the admissible range.
float offset_of(float sum, int free_rows, float up, float low) {
  if (free_rows > 0 && !isnan(up)) return sum / (float)free_rows;
  return up == INFINITY ? low : (low == -INFINITY ? up : 0.5f * (up + low));
}

#if REGRESSION
#define AT_ZERO(k) ((flags[k] & (POSITIVE | NEGATIVE)) == 0)
#define AT_C(k) (!AT_ZERO(k) && (flags[k] & (UP | LOW)) != (UP | LOW))
#define COEFFICIENT_AT_C(k) ((flags[k] & POSITIVE) != 0 ? c * weight[k] : -(c * weight[k]))
#define COEFFICIENT(k) a[k]
#define IS_FREE(k) (!AT_ZERO(k) && !AT_C(k))
#define F_OF_FREE(k) (f[k] + ((flags[k] & POSITIVE) != 0 ? sf[S_EPSILON] : -sf[S_EPSILON]))
#else
#define AT_ZERO(k) (y[k] == 0 || flags[k] == (y[k] > 0 ? UP : LOW))
#define AT_C(k) (y[k] != 0 && flags[k] == (y[k] > 0 ? LOW : UP))
#define COEFFICIENT_AT_C(k) ((float)y[k] * ((y[k] > 0 ? c : c_minus) * weight[k]))
#define COEFFICIENT(k) ((float)y[k] * a[k])
#define IS_FREE(k) (flags[k] == (UP | LOW))
#define F_OF_FREE(k) f[k]
#endif

// Writes the coefficient of row k, and adds to the counts of the model.
#define WRITE_COEFFICIENT(k, sum, free_rows, vectors, rows_at_c)                  \
  do {                                                                            \
    const bool at_zero_ = AT_ZERO(k);                                             \
    const bool at_c_ = AT_C(k);                                                   \
    out[k] = at_zero_ ? 0.0f : (at_c_ ? COEFFICIENT_AT_C(k) : COEFFICIENT(k));    \
    (vectors) += !at_zero_;                                                       \
    (rows_at_c) += at_c_;                                                         \
    if (IS_FREE(k)) {                                                             \
      (sum) += F_OF_FREE(k);                                                      \
      ++(free_rows);                                                              \
    }                                                                             \
  } while (0)

// Writes the model of a problem in its current state: coefficients, rho and counts. Runs in one work-item.
void write_model(__global int* si, __global float* sf, __global const char* y, __global const int* flags,
                 __global const float* f, __global const float* a, __global float* coef, __global const float* weight,
                 long ld) {
  const float c = sf[S_C], c_minus = sf[S_C_MINUS];
  __global float* out = coef + si[I_COEF] * ld;
  float sum[16];
  for (int t = 0; t < 16; ++t) sum[t] = 0.0f;
  int free_rows = 0, rows_at_c = 0, vectors = 0;
  for (long k = 0; k < ld; ++k) WRITE_COEFFICIENT(k, sum[k & 15], free_rows, vectors, rows_at_c);
  for (int t = 1; t < 16; ++t) sum[0] += sum[t];
  si[I_AT_C] = rows_at_c;
  si[I_VECTORS] = vectors;
  sf[S_RHO] = offset_of(sum[0], free_rows, sf[S_UP], sf[S_LOW]);
}

typedef struct {
  float sum[16];
  int free_rows[16], vectors[16], at_c[16];
} ModelSums;

// Writes the same model with the first 16 work-items of a group, using the same 16 partial sums in the same order. All
// work-items call the function; if `writers` is 0, it writes nothing.
void write_model_together(int lid, int writers, __local ModelSums* sums, __global int* si, __global float* sf,
                          __global const char* y, __global const int* flags, __global const float* f,
                          __global const float* a, __global float* coef, __global const float* weight, long ld) {
  if (lid < writers) {
    const float c = sf[S_C], c_minus = sf[S_C_MINUS];
    __global float* out = coef + si[I_COEF] * ld;
    float sum = 0.0f;
    int free_rows = 0, vectors = 0, rows_at_c = 0;
    for (long k = lid; k < ld; k += 16) WRITE_COEFFICIENT(k, sum, free_rows, vectors, rows_at_c);
    sums->sum[lid] = sum;
    sums->free_rows[lid] = free_rows;
    sums->vectors[lid] = vectors;
    sums->at_c[lid] = rows_at_c;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && writers > 0) {
    float sum = sums->sum[0];
    int free_rows = sums->free_rows[0], vectors = sums->vectors[0], rows_at_c = sums->at_c[0];
    for (int t = 1; t < 16; ++t) {
      sum += sums->sum[t];
      free_rows += sums->free_rows[t];
      vectors += sums->vectors[t];
      rows_at_c += sums->at_c[t];
    }
    si[I_AT_C] = rows_at_c;
    si[I_VECTORS] = vectors;
    sf[S_RHO] = offset_of(sum, free_rows, sf[S_UP], sf[S_LOW]);
  }
}

// The work-items of a group compare values in two rounds: each of the first FIRST compares 16 values, then all compare
// these FIRST results. A barrier takes longer than 16 comparisons. GROUP is a multiple of 16. With PAIRS, values are pairs
// of floats.
#define FIRST (GROUP / 16)

typedef struct {
  float value[GROUP + FIRST];
#ifdef PAIRS
  float rest[GROUP + FIRST];
#endif
  int at[GROUP + FIRST];
} Comparison;

typedef struct {
  float value, rest;
  int at;
} Best;

// Returns the better one: the smallest value + rest and, for ties, the largest index.
static Best better(Best a, Best b) {
  const bool second = b.value < a.value || (b.value == a.value && (b.rest < a.rest || (b.rest == a.rest && b.at > a.at)));
  return second ? b : a;
}

static Best value_at(__local const Comparison* c, int place) {
#ifdef PAIRS
  const Best x = {c->value[place], c->rest[place], c->at[place]};
#else
  const Best x = {c->value[place], 0.0f, c->at[place]};
#endif
  return x;
}

// Compares the values at `from`, from + step, ..., of which there are `count`.
static Best best_of(__local const Comparison* c, int from, int step, int count) {
  Best best = value_at(c, from);
  for (int t = 1; t < count; ++t) best = better(best, value_at(c, from + t * step));
  return best;
}

static void put(__local Comparison* c, int place, Best x) {
  c->value[place] = x.value;
#ifdef PAIRS
  c->rest[place] = x.rest;
#endif
  c->at[place] = x.at;
}

// Returns the best of a group to every work-item. All work-items call it, and it has two barriers.
static Best group_best(int lid, __local Comparison* c, Best x) {
  put(c, lid, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < FIRST) put(c, GROUP + lid, best_of(c, lid, FIRST, 16));
  barrier(CLK_LOCAL_MEM_FENCE);
  return best_of(c, GROUP, 1, FIRST);
}

// Does the same for two values with the same two barriers.
static void group_best_of_two(int lid, __local Comparison* c, Best* x, __local Comparison* d, Best* y) {
  put(c, lid, *x);
  put(d, lid, *y);
  barrier(CLK_LOCAL_MEM_FENCE);
  __local Comparison* mine = lid < FIRST ? c : d;
  const int first = lid < FIRST ? lid : lid - FIRST;
  if (lid < 2 * FIRST) put(mine, GROUP + first, best_of(mine, first, FIRST, 16));
  barrier(CLK_LOCAL_MEM_FENCE);
  *x = best_of(c, GROUP, 1, FIRST);
  *y = best_of(d, GROUP, 1, FIRST);
}
