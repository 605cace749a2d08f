// Solves many binary C-SVC problems over one kernel matrix by decomposition with large working sets (Joachims: Making
// large-scale SVM learning practical, 1998). libsvm.cl describes the dual and F. Regressions have more free rows than a
// working set holds, so they take LIBSVM's steps.
//
// A round has four kernels. `choose` fills the problem's working set with the `want` rows of I_up with the smallest F
// and `want` rows of I_low with the largest F, but not with rows whose F lies beyond the opposite extreme by more than
// the gap. It ends a problem that meets the tolerance. `gather` copies the kernel values between members. `solve` takes
// SMO steps on the working set alone until its gap is a tenth of the gap at the start of the round, or below the
// tolerance. `update` adds the effect of the moved multipliers to F of all rows of the problem.
//
// A step visits the rows of the working set, and a round visits all rows once. F and a are pairs of floats as in
// libsvm.cl. `update` adds the products of a round as floats while the resulting errors stay below a share of the
// tolerance (S_ROUNDING), otherwise as pairs of floats.
//
// Elementwise operations and the order of every sum are the same in all variants and in the native solver, ties go to
// the largest row, and the working set is a function of F alone. For the same kernel matrix, all variants therefore
// give the same bits.
//
// Each problem p has, in addition to the arrays of places.cl:
//   counts   COUNTS ints with the indices below
//   members  SET ints: the rows of the working set, ascending
//   moved    SET ints: the rows whose multipliers moved
//   delta    2 * SET floats: y times the changes of these multipliers, first the high parts, then the low parts
//   inner    5 * SET floats: the state of the working set between two launches of `solve`
//   tile     SET * SET floats: the kernel values between members, padded with zeros to blocks of 16
#define COUNTS 5
#define MEMBERS 0
#define MOVED 1
#define IN_PAIRS 2  // whether `update` adds pairs of floats
#define INSIDE 3    // the steps of a round that the next launch of `solve` continues, or 0
#define POOR 4      // number of poor rounds in a row, up to the last one (blocked_solver.hpp)

// A round ends when the gap falls below SHARE_OF_GAP of its initial size, or below SHARE_OF_TOL of the tolerance.
#define SHARE_OF_GAP 0.1f
#define SHARE_OF_TOL 0.9f
// Limits the rounding errors in F to this share of the tolerance.
#define ROUNDING_OF_TOL 0.25f
// Each round counts as at least this number of steps, so that a problem whose values overflow ends.
#define LEAST_STEPS 1000
#define HALF_ULP 5.9604645e-8f

// Rows are ordered by v, which is F for I_up, and -F for rows of I_low that are not in the set yet. A cut selects the
// rows with v < value, and the rows from `row` on with v == value.
typedef struct {
  float value;
  int row;
} Cut;

#define KEY(x) ((x) ^ (((x) >> 31) & 0x7fffffff))  // maps floats to integers in the same order, and back
float float_of_key(int key) { return as_float(KEY(key)); }
int key_of_float(float x) { return KEY(as_int(x)); }

// Returns a pseudo-random number for row k, so that the first working set is a random sample.
float shuffled(long k) { return (float)(((uint)k * 2654435761u) >> 8); }

typedef struct {
  __global const int* span;
  __global const int* flags;
  __global const float* f;
} Rows;

// Starts row k at a = 0. F holds the shuffled numbers until the problem has its first working set.
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

// Moves the multipliers of the members i and j like take_step in libsvm.cl, and sets `step` to the length of the step.
// BOUND(x) is the largest multiplier of member x.
#define TAKE_STEP(step, i, j, k_ij)                                                         \
  do {                                                                                      \
    const float eta_ = fmax(CURVATURE(diagonal_of[i], diagonal_of[j], k_ij), TAU);          \
    const float room_i_ = label[i] > 0 ? (BOUND(i) - high[i]) - rest[i] : high[i] + rest[i]; \
    const float room_j_ = label[j] > 0 ? high[j] + rest[j] : (BOUND(j) - high[j]) - rest[j]; \
    (step) = fmin(((fm[j] - fm[i]) + (fl[j] - fl[i])) / eta_, fmin(room_i_, room_j_));      \
    ADD_TO(high[i], rest[i], label[i] > 0 ? (step) : -(step));                              \
    ADD_TO(high[j], rest[j], label[j] > 0 ? -(step) : (step));                              \
    state[i] = (step) >= room_i_ ? LOW : (UP | LOW);                                        \
    state[j] = (step) >= room_j_ ? UP : (UP | LOW);                                         \
  } while (0)

// Returns the high part of y times the change of a member's multiplier, and stores the low part.
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
      const int max_steps, const float largest, const int most_poor

// Ends a round that took `steps`: after too many poor rounds, LIBSVM's steps continue the problem from a new pair.
#define END_ROUND(steps)                                \
  do {                                                  \
    count[INSIDE] = 0;                                  \
    count[POOR] = (steps) < SET / 4 ? count[POOR] + 1 : 0; \
    if (count[POOR] >= most_poor) {                     \
      si[I_STATUS] = HANDED_OVER;                       \
      si[I_BEST] = NONE;                                \
    }                                                   \
  } while (0)

#define UPDATE_ARGUMENTS                                                                                        \
  __global const int *order, const int running, __global const int *spans, __global const char *sign,           \
      __global float *f_all, __global const int *counts, __global const int *moved_all,                          \
      __global const float *delta_all, __global const int *slot, const long ld, PANELS

// Adds (d, d_rest) * k to (h, l), where l collects the errors (Ogita, Rump, Oishi: Accurate sum and dot product, 2005).
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

// Adds x to the double-float (h, l); h is then the rounded sum.
#define ADD_SUM(T, h, l, x)                           \
  do {                                                \
    const T s_ = (h) + (x);                           \
    const T b_ = s_ - (h);                            \
    const T r_ = (l) + (((h) - (s_ - b_)) + ((x) - b_)); \
    (h) = s_ + r_;                                    \
    (l) = r_ - ((h) - s_);                            \
  } while (0)
