// Sequential minimal optimisation for many problems over one kernel matrix, one work-group per problem.
//
// Dual of a binary C-SVC: min 1/2 a'Qa - e'a, 0 <= a_k <= C w_k, y'a = 0, with the weights w of the rows and of their
// classes. With F_k = sum_l a_l y_l K_kl - y_k, the pair (i, j) is chosen by second-order information (Fan, Chen, Lin:
// Working Set Selection Using Second Order Information for Training SVM, JMLR 6, 2005). The loop stops when max F over
// I_low - min F over I_up < tol, which is LIBSVM's rule.
//
// Dual of an epsilon-SVR for targets z (Chang, Lin: LIBSVM, ACM TIST 2, 2011, section 2.4), with one multiplier a_k in
// [-C w_k, C w_k] per row instead of two of which one is 0: min 1/2 a'Ka + epsilon |a|_1 - z'a, e'a = 0. With F_k =
// sum_l a_l K_kl - z_k, a row counts in I_up with F_k + epsilon, or F_k - epsilon where a_k < 0, and in I_low with F_k -
// epsilon, or F_k + epsilon where a_k > 0. A step ends at 0. The steps are those that LIBSVM takes on two multipliers.
//
// F and a are stored as pairs of floats whose sum is the value (Dekker 1971, Knuth's two-sum), because plain fp32 does
// not converge at large C and not every device has fp64. Elementwise operations are the same in every variant and in
// the native solver, and ties go to the largest index as in LIBSVM. All of them therefore take the same steps over the
// same kernel matrix.

#if REGRESSION
#define UP_OFFSET(flag, epsilon) (((flag) & NEGATIVE) != 0 ? -(epsilon) : (epsilon))
#define LOW_OFFSET(flag, epsilon) (((flag) & POSITIVE) != 0 ? (epsilon) : -(epsilon))
#define UP_OFFSET16(flag, epsilon) select((float16)(epsilon), (float16)(-(epsilon)), ((flag) & NEGATIVE) != 0)
#define LOW_OFFSET16(flag, epsilon) select((float16)(-(epsilon)), (float16)(epsilon), ((flag) & POSITIVE) != 0)
// (h, l) += offset
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

// Starts row k at a = 0.
#define BEGIN(k)              \
  do {                        \
    f[k] = BEGIN_F(k);        \
    f[ld + k] = 0.0f;         \
    a[k] = 0.0f;              \
    a[ld + k] = 0.0f;         \
    flags[k] = BEGIN_FLAGS(k); \
  } while (0)

#if REGRESSION
// Moves the multiplier of row k by `step` (up if `sign` is 1, down if it is -1); `last` says that this is all its room.
void move(int k, float step, float sign, bool last, __global int* flags, __global float* a, long ld) {
  const int away = sign > 0 ? POSITIVE : NEGATIVE, back = sign > 0 ? NEGATIVE : POSITIVE;
  if (last && (flags[k] & back) != 0) {
    a[k] = 0.0f;
    a[ld + k] = 0.0f;
    flags[k] = UP | LOW;
    return;
  }
  ADD_TO(a[k], a[ld + k], sign * step);
  const int side = a[k] > 0.0f ? POSITIVE : (a[k] < 0.0f ? NEGATIVE : 0);
  flags[k] = last ? (away | (sign > 0 ? LOW : UP)) : (side | UP | LOW);
}

// Takes one step on the pair (i, j): moves both multipliers, updates their flags and returns the step length.
float take_step(int i, int j, float k_ij, float k_ii, float k_jj, float c, float epsilon, __global int* flags,
                __global const float* f, __global float* a, __global const float* weight, long ld) {
  const float eta = fmax(CURVATURE(k_ii, k_jj, k_ij), TAU);
  const float offsets = LOW_OFFSET(flags[j], epsilon) - UP_OFFSET(flags[i], epsilon);
  const float gap = ((f[j] - f[i]) + offsets) + (f[ld + j] - f[ld + i]);
  const float room_i = (flags[i] & NEGATIVE) != 0 ? -a[i] - a[ld + i] : (PRODUCT(float, c, weight[i]) - a[i]) - a[ld + i];
  const float room_j = (flags[j] & POSITIVE) != 0 ? a[j] + a[ld + j] : (PRODUCT(float, c, weight[j]) + a[j]) + a[ld + j];
  const float step = fmin(gap / eta, fmin(room_i, room_j));
  move(i, step, 1.0f, step >= room_i, flags, a, ld);
  move(j, step, -1.0f, step >= room_j, flags, a, ld);
  return step;
}
#define TAKE_STEP(i, j) take_step(i, j, ki[j], kii, diagonal[j], c, epsilon, flags, f, a, weight, ld)
#else
// Takes one step on the pair (i, j): moves both multipliers, updates their flags and returns the step length.
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
  // i moved so that F grows. At its bound it can only move back, so it is in I_low. For j it is the other way round.
  flags[i] = step >= room_i ? LOW : (UP | LOW);
  flags[j] = step >= room_j ? UP : (UP | LOW);
  return step;
}
#define TAKE_STEP(i, j) take_step(i, j, ki[j], kii, diagonal[j], c, c_minus, y, flags, f, a, weight, ld)
#endif

// ---- one work-item per problem, 16 rows at a time: for CPUs --------------------------------------------------------

__kernel void smo_vector(__global const int* order, __global int* is, __global float* fs, __global const int* spans,
                         __global const char* sign, __global int* flags_all, __global float* f_all,
                         __global float* a_all, __global float* coef, __global const float* diagonal,
                         __global const int* slot, __global const float* target, __global const float* weight,
                         const long ld, const int max_steps, PANELS) {
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global const int* span = spans + p * MAX_SPANS * 2;
  const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#if REGRESSION
  const float c = sf[S_C], epsilon = sf[S_EPSILON];
#else
  const float c = sf[S_C], c_minus = sf[S_C_MINUS];
#endif
  const float tol = sf[S_TOL];

  int i = si[I_BEST];
  float up = sf[S_UP];
  float up_rest = sf[S_UP_REST];
  float low = sf[S_LOW];
  int status = RUNNING;
  bool first = si[I_STATUS] == START;
  if (first) {
    for (long k = 0; k < ld; ++k) {
      BEGIN(k);
    }
  }

  int steps = 0;
  int j = -1;
  while (true) {
    float step = 0.0f;
    __global const float* ki = 0;
    __global const float* kj = 0;
    if (!first) {
      if (!(low - up >= tol)) {
        status = CONVERGED;
        break;
      }
      if (steps >= max_steps) break;
      if (slot[i] < 0) {
        si[I_NEED] = i;
        status = NEED;
        break;
      }
      ki = ROW(slot[i]);
      const float kii = diagonal[i];
      float16 best = (float16)(-1.0f);
      int16 best_at = (int16)(NONE);
      for (int s = 0; span[2 * s] >= 0; ++s) {
        for (int b = span[2 * s]; b < span[2 * s + 1]; ++b) {
          const int16 flag = vload16(b, flags);
          float16 h = vload16(b, f), l = vload16(b, f + ld);
          SHIFT(float16, h, l, LOW_OFFSET16(flag, epsilon));
          const float16 diff = (h - up) + (l - up_rest);
          const int16 is_low = (flag & LOW) != 0;
          const int16 wanted = is_low & (diff > 0.0f);
          if (ANY16(wanted)) {
            const float16 raw = CURVATURE(kii, vload16(b, diagonal), vload16(b, ki));
            const float16 eta = LARGER((float16)(TAU), raw);
            const float16 gain = diff * diff / eta;
            const int16 better = wanted & (gain >= best);
            best = select(best, gain, better);
            best_at = select(best_at, b * BLOCK + lane, better);
          }
        }
      }
      float g = -1.0f;
      j = NONE;
      float bs[16];
      int ba[16];
      vstore16(best, 0, bs);
      vstore16(best_at, 0, ba);
      for (int t = 0; t < 16; ++t)
        if (bs[t] > g || (bs[t] == g && ba[t] > j)) {
          g = bs[t];
          j = ba[t];
        }
      if (j == NONE) {  // kernel values have overflowed, which rho shows
        up = NAN;
        status = CONVERGED;
        break;
      }
      if (slot[j] < 0) {
        si[I_NEED] = j;
        status = NEED;
        break;
      }
      kj = ROW(slot[j]);
      step = TAKE_STEP(i, j);
      ++steps;
    }

    const float16 step16 = (float16)(step);
    float16 up16 = (float16)(INFINITY);
    float16 rest16 = (float16)(0.0f);
    float16 low16 = (float16)(-INFINITY);
    int16 up_at = (int16)(NONE);
    for (int s = 0; span[2 * s] >= 0; ++s) {
      for (int b = span[2 * s]; b < span[2 * s + 1]; ++b) {
        float16 h = vload16(b, f);
        float16 l = vload16(b, f + ld);
        if (!first) {
          ADD_STEP(float16, h, l, step16, vload16(b, ki) - vload16(b, kj));
          vstore16(h, b, f);
          vstore16(l, b, f + ld);
        }
        const int16 flag = vload16(b, flags);
        low16 = select(low16, SHIFTED(h, LOW_OFFSET16(flag, epsilon)),
                       ((flag & LOW) != 0) & (SHIFTED(h, LOW_OFFSET16(flag, epsilon)) > low16));
        SHIFT(float16, h, l, UP_OFFSET16(flag, epsilon));
        const int16 better = ((flag & UP) != 0) & ((h < up16) | ((h == up16) & (l <= rest16)));
        up16 = select(up16, h, better);
        rest16 = select(rest16, l, better);
        up_at = select(up_at, b * BLOCK + lane, better);
      }
    }
    float us[16], rs[16], ls[16];
    int ua[16];
    vstore16(up16, 0, us);
    vstore16(rest16, 0, rs);
    vstore16(low16, 0, ls);
    vstore16(up_at, 0, ua);
    up = INFINITY;
    up_rest = 0.0f;
    low = -INFINITY;
    i = NONE;
    for (int t = 0; t < 16; ++t) {
      const bool equal = us[t] == up && rs[t] == up_rest;
      if (us[t] < up || (us[t] == up && rs[t] < up_rest) || (equal && ua[t] > i)) {
        up = us[t];
        up_rest = rs[t];
        i = ua[t];
      }
      low = fmax(low, ls[t]);
    }
    if (first && si[I_BEST] != NONE) i = si[I_BEST];
    first = false;
  }

  si[I_STATUS] = status;
  si[I_BEST] = i;
  si[I_STEPS] += steps;
  sf[S_UP] = up;
  sf[S_UP_REST] = up_rest;
  sf[S_LOW] = low;
  // A capped problem has a model too.
  if (status == CONVERGED || steps >= max_steps) write_model(si, sf, y, flags, f, a, coef, weight, ld);
}

// ---- one work-group per problem, one row per work-item and iteration: for GPUs --------------------------------------

#ifndef GROUP
#define GROUP 64
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void smo_group(
    __global const int* order, __global int* is, __global float* fs, __global const int* spans,
    __global const char* sign, __global int* flags_all, __global float* f_all, __global float* a_all,
    __global float* coef, __global const float* diagonal, __global const int* slot, __global const float* target,
    __global const float* weight, const long ld, const int max_steps, PANELS) {
  __local float l_value[GROUP], l_rest[GROUP];
  __local int l_at[GROUP];
  __local float l_step;
  __local ModelSums l_sums;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global const int* span = spans + p * MAX_SPANS * 2;
#if REGRESSION
  const float c = sf[S_C], epsilon = sf[S_EPSILON];
#else
  const float c = sf[S_C], c_minus = sf[S_C_MINUS];
#endif
  const float tol = sf[S_TOL];

  int i = si[I_BEST];
  float up = sf[S_UP];
  float up_rest = sf[S_UP_REST];
  float low = sf[S_LOW];
  int status = RUNNING;
  bool first = si[I_STATUS] == START;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (first) {
    for (long k = lid; k < ld; k += GROUP) {
      BEGIN(k);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }

  int steps = 0;
  int need = -1;
  while (true) {
    float step = 0.0f;
    __global const float* ki = f;
    __global const float* kj = f;
    if (!first) {
      if (!(low - up >= tol)) {
        status = CONVERGED;
        break;
      }
      if (steps >= max_steps) break;
      if (slot[i] < 0) {
        need = i;
        status = NEED;
        break;
      }
      ki = ROW(slot[i]);
      const float kii = diagonal[i];
      float nothing = 0.0f;
      float loss = 1.0f;  // the negated gain: group_min finds the largest gain
      int j = NONE;
      for (int s = 0; span[2 * s] >= 0; ++s) {
        for (int k = span[2 * s] * BLOCK + lid; k < span[2 * s + 1] * BLOCK; k += GROUP) {
          float h = f[k], l = f[ld + k];
          SHIFT(float, h, l, LOW_OFFSET(flags[k], epsilon));
          const float diff = (h - up) + (l - up_rest);
          if ((flags[k] & LOW) != 0 && diff > 0.0f) {
            const float eta = fmax(CURVATURE(kii, diagonal[k], ki[k]), TAU);
            const float gain = diff * diff / eta;
            if (-gain <= loss) {
              loss = -gain;
              j = k;
            }
          }
        }
      }
      group_min(GROUP, l_value, l_rest, l_at, lid, &loss, &nothing, &j);
      if (j == NONE) {
        up = NAN;
        status = CONVERGED;
        break;
      }
      if (slot[j] < 0) {
        need = j;
        status = NEED;
        break;
      }
      kj = ROW(slot[j]);
      if (lid == 0) l_step = TAKE_STEP(i, j);
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      step = l_step;
      ++steps;
    }

    up = INFINITY;
    up_rest = 0.0f;
    i = NONE;
    float high = INFINITY;  // the negated maximum over I_low
    for (int s = 0; span[2 * s] >= 0; ++s) {
      for (int k = span[2 * s] * BLOCK + lid; k < span[2 * s + 1] * BLOCK; k += GROUP) {
        float h = f[k];
        float l = f[ld + k];
        if (!first) {
          ADD_STEP(float, h, l, step, ki[k] - kj[k]);
          f[k] = h;
          f[ld + k] = l;
        }
        const int flag = flags[k];
        const float value_low = SHIFTED(h, LOW_OFFSET(flag, epsilon));
        SHIFT(float, h, l, UP_OFFSET(flag, epsilon));
        if ((flag & UP) != 0 && (h < up || (h == up && l <= up_rest))) {
          up = h;
          up_rest = l;
          i = k;
        }
        if ((flag & LOW) != 0 && -value_low < high) high = -value_low;
      }
    }
    group_min(GROUP, l_value, l_rest, l_at, lid, &up, &up_rest, &i);
    float nothing = 0.0f;
    int none = 0;
    group_min(GROUP, l_value, l_rest, l_at, lid, &high, &nothing, &none);
    low = -high;
    if (first && si[I_BEST] != NONE) i = si[I_BEST];
    first = false;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }

  if (lid == 0) {
    si[I_STATUS] = status;
    si[I_BEST] = i;
    si[I_NEED] = need;
    si[I_STEPS] += steps;
    sf[S_UP] = up;
    sf[S_UP_REST] = up_rest;
    sf[S_LOW] = low;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  const int writers = status == CONVERGED || steps >= max_steps ? 16 : 0;
  write_model_together(lid, writers, &l_sums, si, sf, y, flags, f, a, coef, weight, ld);
}
