// Decomposition with large working sets, for many binary C-SVC problems over one kernel matrix (Joachims: Making
// large-scale SVM learning practical, 1998; the dual and F are described in libsvm.cl). Regressions have more free rows
// than a working set holds, and take LIBSVM's steps.
//
// A round has four kernels. choose: takes the `want` rows of I_up with the smallest F and as many of I_low with the
// largest F into the problem's working set, but none that is further from violating a bound than the worst violation; or
// ends the problem if it meets the tolerance. gather: copies the kernel values among members. solve: takes SMO steps on
// the working set alone until its gap is a tenth of the gap at the start of the round, or below the tolerance. update:
// adds what the moved multipliers change to F of all rows of the problem.
//
// A step visits the rows of the working set, and a round visits all rows once. F and a are pairs of floats as in
// libsvm.cl. `update` adds the products of a round as floats while the errors of that stay below a share of the tolerance
// (S_ROUNDING), else as pairs of floats.
//
// Elementwise operations and the order of every sum are the same in all variants and in the native solver, ties go to
// the largest row, and the working set is a function of F alone: all of them give the same bits over the same kernel
// matrix.
//
// Per problem p, besides the arrays of places.cl:
//   counts   4 ints, indices below
//   members  SET ints: the rows of the working set, ascending
//   moved    SET ints: the rows whose multipliers moved; delta: 2 * SET floats, y times the change, high and low parts
//   inner    5 * SET floats: the state of the working set between two launches of `solve`
//   tile     SET * SET floats: the kernel values among members, padded with zeros to blocks of 16
#define MEMBERS 0
#define MOVED 1
#define IN_PAIRS 2  // whether `update` adds pairs of floats
#define INSIDE 3    // whether `solve` continues a round

// A round ends at this share of the gap at its start, or of the tolerance.
#define SHARE_OF_GAP 0.1f
#define SHARE_OF_TOL 0.9f
// The most that rounding may add to F, as a share of the tolerance.
#define ROUNDING_OF_TOL 0.25f
// Rounds with fewer steps count as so many, so that a problem whose values overflow ends.
#define LEAST_STEPS 1000
#define HALF_ULP 5.9604645e-8f

// Rows are ordered by v: F for I_up, and -F for those of I_low that are not in the set already. A cut selects the rows
// with v < value, and those with v == value from `row` on.
typedef struct {
  float value;
  int row;
} Cut;

#define KEY(x) ((x) ^ (((x) >> 31) & 0x7fffffff))  // floats as integers in the same order, and back
float float_of_key(int key) { return as_float(KEY(key)); }
int key_of_float(float x) { return KEY(as_int(x)); }

// A different number for each row, in no visible order: the first working set is a random sample.
float shuffled(long k) { return (float)(((uint)k * 2654435761u) >> 8); }

typedef struct {
  __global const int* span;
  __global const int* flags;
  __global const float* f;
} Rows;

// Starts a problem at a = 0. F holds the shuffled numbers until the first working set is chosen.
#define BEGIN_ROW(k)                                   \
  do {                                                 \
    f[k] = shuffled(k);                                \
    f[ld + k] = 0.0f;                                  \
    a[k] = 0.0f;                                       \
    a[ld + k] = 0.0f;                                  \
    flags[k] = y[k] > 0 ? UP : (y[k] < 0 ? LOW : 0);   \
  } while (0)

#define CHOOSE_ARGUMENTS                                                                                             \
  __global const int *order, __global int *is, __global float *fs, __global const int *spans,                        \
      __global const char *sign, __global int *flags_all, __global float *f_all, __global float *a_all,              \
      __global float *coef, __global int *counts, __global int *members_all, __global const float *weight,             \
      const long ld, const int want

// Moves the multipliers of the members i and j, as take_step in libsvm.cl does; returns the step.
#define TAKE_STEP(step, i, j, k_ij)                                                         \
  do {                                                                                      \
    const float eta_ = fmax(CURVATURE(diagonal_of[i], diagonal_of[j], k_ij), TAU);          \
    const float most_i_ = PRODUCT(float, c, weight[members[i]]);                            \
    const float most_j_ = PRODUCT(float, c_minus, weight[members[j]]);                      \
    const float room_i_ = label[i] > 0 ? (most_i_ - high[i]) - rest[i] : high[i] + rest[i]; \
    const float room_j_ = label[j] > 0 ? high[j] + rest[j] : (most_j_ - high[j]) - rest[j]; \
    (step) = fmin(((fm[j] - fm[i]) + (fl[j] - fl[i])) / eta_, fmin(room_i_, room_j_));      \
    ADD_TO(high[i], rest[i], label[i] > 0 ? (step) : -(step));                              \
    ADD_TO(high[j], rest[j], label[j] > 0 ? -(step) : (step));                              \
    state[i] = (step) >= room_i_ ? LOW : (UP | LOW);                                        \
    state[j] = (step) >= room_j_ ? UP : (UP | LOW);                                         \
  } while (0)

// y times the change of a member's multiplier, in two parts.
float change_of(float high, float rest, float old_high, float old_rest, int y, float* low) {
  float e;
  const float d = two_sum(high, -old_high, &e);
  const float l = e + (rest - old_rest);
  *low = y > 0 ? l : -l;
  return y > 0 ? d : -d;
}

#define GATHER_ARGUMENTS                                                                                   \
  __global const int *order, const int running, __global const int *counts, __global const int *members_all, \
      __global float *tile_all, __global const int *slot, const long ld, PANELS

#define SOLVE_ARGUMENTS                                                                                               \
  __global const int *order, __global int *is, __global float *fs, __global const char *sign, __global int *flags_all, \
      __global const float *f_all, __global float *a_all, __global int *counts, __global const int *members_all,      \
      __global int *moved_all, __global float *delta_all, __global float *inner_all,                                   \
      __global const float *tile_all, __global const float *diagonal, __global const float *weight, const long ld,    \
      const int max_steps, const float largest

#define UPDATE_ARGUMENTS                                                                                        \
  __global const int *order, const int running, __global const int *spans, __global const char *sign,           \
      __global float *f_all, __global const int *counts, __global const int *moved_all,                          \
      __global const float *delta_all, __global const int *slot, const long ld, PANELS

// (h, l) += d * k, where l collects the errors (Ogita, Rump, Oishi: Accurate sum and dot product, 2005).
#define ADD_PRODUCT(T, h, l, d, d_rest, k)            \
  do {                                                \
    const T k_ = (k);                                 \
    const T p_ = PRODUCT(T, d, k_);                   \
    const T q_ = fma((T)(d), k_, -p_);                \
    const T s_ = (h) + p_;                            \
    const T b_ = s_ - (h);                            \
    const T e_ = ((h) - (s_ - b_)) + (p_ - b_);       \
    (l) += e_ + fma((T)(d_rest), k_, q_);             \
    (h) = s_;                                         \
  } while (0)

// (h, l) += x, with h the rounded value at the end.
#define ADD_SUM(T, h, l, x)                           \
  do {                                                \
    const T s_ = (h) + (x);                           \
    const T b_ = s_ - (h);                            \
    const T r_ = (l) + (((h) - (s_ - b_)) + ((x) - b_)); \
    (h) = s_ + r_;                                    \
    (l) = r_ - ((h) - s_);                            \
  } while (0)
