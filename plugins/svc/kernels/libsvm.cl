// Solves many problems over one kernel matrix by sequential minimal optimisation, with one work-group per problem.
//
// The dual of a binary C-SVC is: minimise 1/2 a'Qa - e'a with 0 <= a_k <= C w_k and y'a = 0, where w holds the weights
// of the rows and of their classes. With F_k = sum_l a_l y_l K_kl - y_k, second-order information selects the pair (i,
// j) (Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training SVM, JMLR 6, 2005). LIBSVM's
// rule stops the loop: max F over I_low - min F over I_up < tol.
//
// The dual of an epsilon-SVR for targets z (Chang, Lin: LIBSVM, ACM TIST 2, 2011, section 2.4) has one multiplier a_k
// in [-C w_k, C w_k] per row here, in place of two, one of which is 0: minimise 1/2 a'Ka + epsilon |a|_1 - z'a with e'a
// = 0. With F_k = sum_l a_l K_kl - z_k, a row counts in I_up with F_k + epsilon, or F_k - epsilon if a_k < 0, and in
// I_low with F_k - epsilon, or F_k + epsilon if a_k > 0. A step never crosses 0, so it equals LIBSVM's step on two
// multipliers.
//
// F and a are pairs of floats whose sum is the value (Dekker 1971, Knuth's two-sum), because plain fp32 does not
// converge at large C and not every device has fp64. Elementwise operations are the same in every variant and in the
// native solver, and ties go to the largest index as in LIBSVM. For the same kernel matrix, all variants therefore take
// the same steps.

#if REGRESSION
#define UP_OFFSET(flag, epsilon) (((flag) & NEGATIVE) != 0 ? -(epsilon) : (epsilon))
#define LOW_OFFSET(flag, epsilon) (((flag) & POSITIVE) != 0 ? (epsilon) : -(epsilon))
#define UP_OFFSET16(flag, epsilon) select((float16)(epsilon), (float16)(-(epsilon)), ((flag) & NEGATIVE) != 0)
#define LOW_OFFSET16(flag, epsilon) select((float16)(-(epsilon)), (float16)(epsilon), ((flag) & POSITIVE) != 0)
// Adds offset to the double-float (h, l).
#define SHIFT(T, h, l, offset)                   \
  do {                                           \
    const T o_ = (offset);                       \
    const T s_ = (h) + o_;                       \
    const T b_ = s_ - (h);                       \
    (l) += ((h) - (s_ - b_)) + (o_ - b_);        \
    (h) = s_;                                    \
  } while (0)
#define SHIFTED(h, offset) ((h) + (offset))
#define BEGIN_F(k) -target[k]
#define BEGIN_FLAGS(k) (y[k] != 0 ? UP | LOW : 0)
#else
#define SHIFT(T, h, l, offset)
#define SHIFTED(h, offset) (h)
#define BEGIN_F(k) -(float)y[k]
#define BEGIN_FLAGS(k) (y[k] > 0 ? UP : (y[k] < 0 ? LOW : 0))
#endif

#define BEGIN(k)              \
  do {                        \
    f[k] = BEGIN_F(k);        \
    f[ld + k] = 0.0f;         \
    a[k] = 0.0f;              \
    a[ld + k] = 0.0f;         \
    flags[k] = BEGIN_FLAGS(k); \
  } while (0)

#if REGRESSION
// Moves the multiplier of row k by `step`: up if `sign` is 1, down if it is -1. `last` means that the step takes the
// multiplier to the end of its range.
void move(int k, float step, float sign, bool last, __global int* flags, __global float* a, long ld) {
  const int away = sign > 0 ? POSITIVE : NEGATIVE, back = sign > 0 ? NEGATIVE : POSITIVE;
  if (last && (flags[k] & back) != 0) {
    a[k] = 0.0f;
    a[ld + k] = 0.0f;
    flags[k] = UP | LOW;
    return;
  }
  ADD_TO(a[k], a[ld + k], sign > 0 ? step : -step);
  const int side = a[k] > 0.0f ? POSITIVE : (a[k] < 0.0f ? NEGATIVE : 0);
  flags[k] = last ? (away | (sign > 0 ? LOW : UP)) : (side | UP | LOW);
}

// Takes one step on the pair (i, j): moves both multipliers, updates their flags and returns the step length.
float take_step(int i, int j, float k_ij, float k_ii, float k_jj, float c, float epsilon, __global int* flags,
                __global const float* f, __global float* a, __global const float* weight, long ld) {
  const float eta = fmax(CURVATURE(k_ii, k_jj, k_ij), TAU);
  const float offsets = LOW_OFFSET(flags[j], epsilon) - UP_OFFSET(flags[i], epsilon);
  const float gap = ((f[j] - f[i]) + offsets) + (f[ld + j] - f[ld + i]);
  const float room_i =
      (flags[i] & NEGATIVE) != 0 ? -a[i] - a[ld + i] : (PRODUCT(float, c, weight[i]) - a[i]) - a[ld + i];
  const float room_j =
      (flags[j] & POSITIVE) != 0 ? a[j] + a[ld + j] : (PRODUCT(float, c, weight[j]) + a[j]) + a[ld + j];
  const float step = fmin(gap / eta, fmin(room_i, room_j));
  move(i, step, 1.0f, step >= room_i, flags, a, ld);
  move(j, step, -1.0f, step >= room_j, flags, a, ld);
  return step;
}
#define TAKE_STEP(i, j) take_step(i, j, VALUE(ki, j), kii, diagonal[j], c, epsilon, flags, f, a, weight, ld)
#define LIMITS const float c = sf[S_C], epsilon = sf[S_EPSILON]
#else
float take_step(int i, int j, float k_ij, float k_ii, float k_jj, float c, float c_minus, __global const char* y,
                       __global int* flags, __global const float* f, __global float* a, __global const float* weight,
                       long ld) {
  const float eta = fmax(CURVATURE(k_ii, k_jj, k_ij), TAU);
  const float gap = (f[j] - f[i]) + (f[ld + j] - f[ld + i]);
  const float room_i = y[i] > 0 ? (PRODUCT(float, c, weight[i]) - a[i]) - a[ld + i] : a[i] + a[ld + i];
  const float room_j = y[j] > 0 ? a[j] + a[ld + j] : (PRODUCT(float, c_minus, weight[j]) - a[j]) - a[ld + j];
  const float step = fmin(gap / eta, fmin(room_i, room_j));
  ADD_TO(a[i], a[ld + i], y[i] > 0 ? step : -step);
  ADD_TO(a[j], a[ld + j], y[j] > 0 ? -step : step);
  // The step moves i in the direction that increases F. At its bound, i can only move back, so i is in I_low; j behaves
  // conversely.
  flags[i] = step >= room_i ? LOW : (UP | LOW);
  flags[j] = step >= room_j ? UP : (UP | LOW);
  return step;
}
#define TAKE_STEP(i, j) take_step(i, j, VALUE(ki, j), kii, diagonal[j], c, c_minus, y, flags, f, a, weight, ld)
#define LIMITS const float c = sf[S_C], c_minus = sf[S_C_MINUS]
#endif

#define SMO_ARGUMENTS                                                                                         \
  __global const int *order, __global int *is, __global float *fs, __global const int *spans,                 \
      __global const char *sign, __global int *flags_all, __global float *f_all, __global float *a_all,       \
      __global float *coef, __global const float *diagonal, __global const int *slot,                         \
      __global const float *target, __global const float *weight, const long ld, const int max_steps, PANELS

// Declares the state of this work-group's problem, as the previous launch left it.
#define SMO_STATE                                                \
  const long p = order[get_group_id(0)];                         \
  STATE_OF(p);                                                   \
  __global const int* span = spans + p * MAX_SPANS * 2;          \
  LIMITS;                                                        \
  const float tol = sf[S_TOL];                                   \
  int i = si[I_BEST];                                            \
  float up = sf[S_UP], up_rest = sf[S_UP_REST], low = sf[S_LOW]; \
  int status = RUNNING;                                          \
  const bool begins = si[I_STATUS] == START;                     \
  bool first = begins || si[I_STATUS] == HANDED_OVER
