// Solves the problems with the parameter nu: one work-group per problem. Uses places.cl.
//
// With C and epsilon, the sums of the multipliers are a result; with nu, the sum of each side is given (Chang, Lin: LIBSVM,
// ACM TIST 2, 2011, sections 2.2, 2.3 and 2.5), so a step moves two multipliers of one side. Side 0 has the rows of sign
// +1 and side 1 those of sign -1, or a second multiplier of each row in a regression. A row's coefficient is its multiplier
// of side 0 minus that of side 1, and
//
//   F_k = sum_l coefficient_l K_kl (- z_k in a regression with targets z),
//
// so both sides share F. Within each side, the smallest F of the multipliers that can raise a coefficient (I_up) and the
// largest of those that can lower one (I_low) are its ends. LIBSVM's rule stops when both gaps are below tol. Second-order
// information selects the pair over both sides, and ties go to side 1 and to the largest index, as in LIBSVM.
//
// The problem starts with LIBSVM's multipliers, and the kernel adds their kernel rows to F first. Until then, the status is
// START, and I_NEED is the next row, or NONE before the first launch.
//
// F and the multipliers are pairs of floats. Elementwise operations are the same as in the native solver, and every sum
// has a fixed order, so both take the same steps over the same kernel matrix.

#define MOST_LOOKS 16384  // rows that a launch looks at before it adds a row, because some drivers limit the turns of loops
#define I_OTHER I_LEFT  // first row of the pair of side 1; I_BEST is that of side 0

#define UP_OF(side) (UP << (2 * (side)))
#define LOW_OF(side) (LOW << (2 * (side)))
#define BOTH_OF(side) (UP_OF(side) | LOW_OF(side))

#if REGRESSION
#define IS_ON(k, side) (y[k] != 0)
#define BEGIN_F(k) -target[k]
#else
#define IS_ON(k, side) ((side) == 0 ? y[k] > 0 : y[k] < 0)
#define BEGIN_F(k) 0.0f
#endif

#define FOR_EACH_ROW                      \
  for (int s = 0; span[2 * s] >= 0; ++s) \
    for (int k = span[2 * s] * BLOCK + lid; k < span[2 * s + 1] * BLOCK; k += GROUP)

// Returns the flags of a multiplier. A side whose multipliers lower the coefficient has I_up and I_low swapped.
int flags_of(float high, float low, float bound, int side) {
  if (high == 0.0f && low == 0.0f) return side == 0 ? UP_OF(side) : LOW_OF(side);
  if (high == bound && low == 0.0f) return side == 0 ? LOW_OF(side) : UP_OF(side);
  return BOTH_OF(side);
}

// An end of I_low is the negated largest F, so that the smallest value is the best of both ends.
static float gap_of(Best up, Best low) { return (-low.value - up.value) + (-low.rest - up.rest); }

static Best end_of(Best best, bool wanted, float h, float l, int k) {
  const bool is_better = wanted && (h < best.value || (h == best.value && l <= best.rest));
  best.value = is_better ? h : best.value;
  best.rest = is_better ? l : best.rest;
  best.at = is_better ? k : best.at;
  return best;
}

// Returns the negated largest second-order gain of this work-item's rows of I_low against row i.
static Best loss_of(int lid, int low_flag, Best up, __global const int* span, __global const int* flags,
                    __global const float* f, row_t ki, float kii, __global const float* diagonal,
                    long ld) {
  Best loss = {1.0f, 0.0f, NONE};
  FOR_EACH_ROW {
    const float diff = (f[k] - up.value) + (f[ld + k] - up.rest);
    if ((flags[k] & low_flag) != 0 && diff > 0.0f) {
      const float eta = fmax(CURVATURE(kii, diagonal[k], VALUE(ki, k)), TAU);
      const float gain = diff * diff / eta;
      if (-gain <= loss.value) {
        loss.value = -gain;
        loss.at = k;
      }
    }
  }
  return loss;
}

// Moves the multipliers of the pair (i, j) of a side, updates their flags and returns the step length.
float take_step(int side, int i, int j, float k_ij, float k_ii, float k_jj, float c, __global int* flags,
                __global const float* f, __global float* a, __global const float* weight, long ld) {
  const float eta = fmax(CURVATURE(k_ii, k_jj, k_ij), TAU);
  const float gap = (f[j] - f[i]) + (f[ld + j] - f[ld + i]);
  const float above_i = (PRODUCT(float, c, weight[i]) - a[i]) - a[ld + i], below_i = a[i] + a[ld + i];
  const float above_j = (PRODUCT(float, c, weight[j]) - a[j]) - a[ld + j], below_j = a[j] + a[ld + j];
  const float room_i = side == 0 ? above_i : below_i, room_j = side == 0 ? below_j : above_j;
  const float step = fmin(gap / eta, fmin(room_i, room_j));
  ADD_TO(a[i], a[ld + i], side == 0 ? step : -step);
  ADD_TO(a[j], a[ld + j], side == 0 ? -step : step);
  flags[i] = (flags[i] & ~BOTH_OF(side)) | (step >= room_i ? LOW_OF(side) : BOTH_OF(side));
  flags[j] = (flags[j] & ~BOTH_OF(side)) | (step >= room_j ? UP_OF(side) : BOTH_OF(side));
  return step;
}

// Returns the offset of a side relative to its end of I_up: the mean of F over its free rows or, without free rows, the
// middle of the admissible range.
static float offset_from_end(float sum, int free_rows, Best up, Best low) {
  if (free_rows > 0) return sum / (float)free_rows;
  if (up.value == INFINITY || low.value == INFINITY) return 0.0f;
  return 0.5f * gap_of(up, low);
}

// Returns the size of a multiplier from its flags.
static float size_of(int flag, int side, float a, float bound) {
  flag &= BOTH_OF(side);
  if (flag == 0 || flag == (side == 0 ? UP_OF(side) : LOW_OF(side))) return 0.0f;
  return flag == BOTH_OF(side) ? a : bound;
}

typedef struct {
  float plus[16], minus[16];
  int free_plus[16], free_minus[16], vectors[16];
  float margin;
} NuSums;

// Writes the model with the first 16 work-items. All work-items call the function; if `writers` is 0, it writes nothing.
void write_nu_model(int lid, int writers, __local NuSums* sums, Best up0, Best low0, Best up1, Best low1,
                    __global int* si, __global float* sf, __global const int* flags, __global const float* f,
                    __global const float* a, __global float* coef, __global const float* weight, long ld) {
  if (lid < writers) {
    float plus = 0.0f, minus = 0.0f;
    int free_plus = 0, free_minus = 0;
    for (long k = lid; k < ld; k += 16) {
      if ((flags[k] & BOTH_OF(0)) == BOTH_OF(0)) {
        plus += (f[k] - up0.value) + (f[ld + k] - up0.rest);
        ++free_plus;
      }
      if ((flags[k] & BOTH_OF(1)) == BOTH_OF(1)) {
        minus += (f[k] - up1.value) + (f[ld + k] - up1.rest);
        ++free_minus;
      }
    }
    sums->plus[lid] = plus;
    sums->minus[lid] = minus;
    sums->free_plus[lid] = free_plus;
    sums->free_minus[lid] = free_minus;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && writers > 0) {
    float plus = sums->plus[0], minus = sums->minus[0];
    int free_plus = sums->free_plus[0], free_minus = sums->free_minus[0];
    for (int t = 1; t < 16; ++t) {
      plus += sums->plus[t];
      minus += sums->minus[t];
      free_plus += sums->free_plus[t];
      free_minus += sums->free_minus[t];
    }
    plus = offset_from_end(plus, free_plus, up0, low0);
    minus = offset_from_end(minus, free_minus, up1, low1);
    const float up = up0.value == INFINITY ? -low0.value : up0.value;
    const float up_rest = up0.value == INFINITY ? -low0.rest : up0.rest;
    const float other = up1.value == INFINITY ? -low1.value : up1.value;
    const float other_rest = up1.value == INFINITY ? -low1.rest : up1.rest;
    float rho = up + (up_rest + plus), margin = 1.0f;
    if (other != -INFINITY) {
      rho = 0.5f * (rho + (other + (other_rest + minus)));
      if (!REGRESSION) margin = 0.5f * ((up - other) + ((up_rest - other_rest) + (plus - minus)));
    }
    sums->margin = margin;
    sf[S_RHO] = rho / margin;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < writers) {
    __global float* out = coef + si[I_COEF] * ld;
    const float c = sf[S_C], margin = sums->margin;
    int vectors = 0;
    for (long k = lid; k < ld; k += 16) {
      const float bound = PRODUCT(float, c, weight[k]);
      const float raises = size_of(flags[k], 0, a[k], bound), lowers = size_of(flags[k], 1, a[2 * ld + k], bound);
      out[k] = (raises - lowers) / margin;
      vectors += raises != lowers;
    }
    sums->vectors[lid] = vectors;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && writers > 0) {
    int vectors = 0;
    for (int t = 0; t < 16; ++t) vectors += sums->vectors[t];
    si[I_VECTORS] = vectors;
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void nu_group(
    __global const int* order, __global int* is, __global float* fs, __global const int* spans,
    __global const char* sign, __global int* flags_all, __global float* f_all, __global float* a_all,
    __global float* coef, __global const float* diagonal, __global const int* slot, __global const float* target,
    __global const float* weight, const long ld, const int max_steps, PANELS) {
  __local Comparison l_up0, l_up1, l_low0, l_low1;  // LLVM 15 crashes if both pairs of ends share two
  __local float l_step;
  __local NuSums l_sums;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  __global int* si = is + p * 8;
  __global float* sf = fs + p * 9;
  __global const char* y = sign + p * ld;
  __global int* flags = flags_all + p * ld;
  __global float* f = f_all + p * 2 * ld;
  __global float* a = a_all + p * 4 * ld;
  __global const int* span = spans + p * MAX_SPANS * 2;
  const float c = sf[S_C], tol = sf[S_TOL];
  const bool starts = si[I_STATUS] == START;
  int need = si[I_NEED];
  int status = RUNNING, work = 0, steps = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);

  if (starts && need == NONE) {
    for (long k = lid; k < ld; k += GROUP) {
      const float bound = PRODUCT(float, c, weight[k]);
      f[k] = BEGIN_F(k);
      f[ld + k] = 0.0f;
      const int plus = IS_ON(k, 0) ? flags_of(a[k], a[ld + k], bound, 0) : 0;
      const int minus = IS_ON(k, 1) ? flags_of(a[2 * ld + k], a[3 * ld + k], bound, 1) : 0;
      flags[k] = plus | minus;
    }
    need = 0;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (starts) {
    const int last = need + MOST_LOOKS;
    while (need < ld) {
      if (need == last) {
        status = START;
        break;
      }
      const float high = a[need] - a[2 * ld + need], low = a[ld + need] - a[3 * ld + need];
      if (high != 0.0f || low != 0.0f) {
        if (work >= max_steps || slot[need] < 0) {
          status = START;
          break;
        }
        row_t row = ROW(slot[need]);
        FOR_EACH_ROW {
          float h = f[k], l = f[ld + k];
          ADD_STEP(float, h, l, high, VALUE(row, k));
          if (low != 0.0f) ADD_STEP(float, h, l, low, VALUE(row, k));
          f[k] = h;
          f[ld + k] = l;
        }
        ++work;
      }
      ++need;
    }
  }
  if (status != START) need = NONE;
  barrier(CLK_GLOBAL_MEM_FENCE);

  const Best none = {INFINITY, 0.0f, NONE};
  Best up0 = none, low0 = none, up1 = none, low1 = none;
  bool first = true;
  float step = 0.0f;
  row_t ki = (row_t)f;
  row_t kj = (row_t)f;
  while (status != START) {
    up0 = none;
    low0 = none;
    up1 = none;
    low1 = none;
    FOR_EACH_ROW {
      float h = f[k], l = f[ld + k];
      if (!first) {
        ADD_STEP(float, h, l, step, VALUE(ki, k) - VALUE(kj, k));
        f[k] = h;
        f[ld + k] = l;
      }
      const int flag = flags[k];
      up0 = end_of(up0, (flag & UP_OF(0)) != 0, h, l, k);
      low0 = end_of(low0, (flag & LOW_OF(0)) != 0, -h, -l, k);
      up1 = end_of(up1, (flag & UP_OF(1)) != 0, h, l, k);
      low1 = end_of(low1, (flag & LOW_OF(1)) != 0, -h, -l, k);
    }
    group_best_of_two(lid, &l_up0, &up0, &l_up1, &up1);
    group_best_of_two(lid, &l_low0, &low0, &l_low1, &low1);
    first = false;
    barrier(CLK_GLOBAL_MEM_FENCE);

    if (!(gap_of(up0, low0) >= tol || gap_of(up1, low1) >= tol)) {
      status = CONVERGED;
      break;
    }
    if (work >= max_steps) break;
    if (up0.at != NONE && slot[up0.at] < 0) need = up0.at;
    if (up1.at != NONE && slot[up1.at] < 0) need = up1.at;
    if (need != NONE) {
      status = NEED;
      break;
    }
    Best loss0 = {1.0f, 0.0f, NONE}, loss1 = {1.0f, 0.0f, NONE};
    if (up0.at != NONE)
      loss0 = loss_of(lid, LOW_OF(0), up0, span, flags, f, ROW(slot[up0.at]), diagonal[up0.at], diagonal, ld);
    if (up1.at != NONE)
      loss1 = loss_of(lid, LOW_OF(1), up1, span, flags, f, ROW(slot[up1.at]), diagonal[up1.at], diagonal, ld);
    group_best_of_two(lid, &l_up0, &loss0, &l_up1, &loss1);
    const int side = loss1.at != NONE && loss1.value <= loss0.value ? 1 : 0;
    const int i = side == 0 ? up0.at : up1.at, j = side == 0 ? loss0.at : loss1.at;
    if (j == NONE) {  // kernel values have overflowed, which rho shows
      up0.value = NAN;
      status = CONVERGED;
      break;
    }
    if (slot[j] < 0) {
      need = j;
      status = NEED;
      break;
    }
    ki = ROW(slot[i]);
    kj = ROW(slot[j]);
    if (lid == 0)
      l_step = take_step(side, i, j, VALUE(ki, j), diagonal[i], diagonal[j], c, flags, f, a + 2 * side * ld, weight, ld);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    step = l_step;
    ++work;
    ++steps;
  }

  if (lid == 0) {
    si[I_STATUS] = status;
    si[I_BEST] = up0.at;
    si[I_OTHER] = up1.at;
    si[I_NEED] = need;
    si[I_STEPS] += steps;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  const int writers = status == CONVERGED || status == RUNNING ? 16 : 0;
  write_nu_model(lid, writers, &l_sums, up0, low0, up1, low1, si, sf, flags, f, a, coef, weight, ld);
}
