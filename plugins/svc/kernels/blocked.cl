// Decomposition with large working sets, for many binary C-SVC problems over one kernel matrix (Joachims: Making
// large-scale SVM learning practical, 1998; the dual and F are described in libsvm.cl).
//
// A round has four kernels. choose: takes the `want` rows of I_up with the smallest F and as many of I_low with the
// largest F into the problem's working set, but none that is further from violating a bound than the worst violation; or
// ends the problem if it meets the tolerance. gather: copies the kernel values among members. solve: takes SMO steps on
// the working set alone until its gap is a tenth of the gap at the start of the round, or below the tolerance. update:
// adds what the moved multipliers change to F of all rows of the problem.
//
// Steps cost what the working set has of rows, and all rows are visited once per round. F and a are pairs of floats as
// in libsvm.cl. `update` adds the products of a round as floats while
// the errors of that stay far below the tolerance (S_ROUNDING), else as pairs of floats.
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

// Of the gap at the start of a round, and of the tolerance.
#define SHARE_OF_GAP 0.1f
#define SHARE_OF_TOL 0.9f
// Of the tolerance: the most that rounding may add to F.
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

// ---- one work-item per problem, 16 rows at a time: for CPUs --------------------------------------------------------

typedef struct {
  __global const int* span;
  __global const int* flags;
  __global const float* f;
} Rows;

#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

int16 within16(float16 v, int16 row, Cut cut) { return (v < cut.value) | ((v == cut.value) & (row >= cut.row)); }

// The rows of a block that a side may choose from: those of I_up, or those of I_low beyond the cut of I_up.
int16 eligible16(Rows r, int b, int low, Cut up) {
  const int16 flag = vload16(b, r.flags);
  if (!low) return (flag & UP) != 0;
  return ((flag & LOW) != 0) & ~(((flag & UP) != 0) & within16(vload16(b, r.f), b * BLOCK + LANES, up));
}

float largest16(float16 v) {
  const float8 a = LARGER(v.lo, v.hi);
  const float4 b = LARGER(a.lo, a.hi);
  const float2 c = LARGER(b.lo, b.hi);
  return c.y > c.x ? c.y : c.x;
}

// Leaves the better half of (v, at) in (w, to): larger values, of equal ones the larger index. No lane is NaN.
#define BETTER_HALF(v, at, w, to)                                                                      \
  const int##w better_##w = (v.hi > v.lo) | ((v.hi == v.lo) & (at.hi > at.lo));                        \
  const float##w value_##w = select(v.lo, v.hi, better_##w);                                           \
  const int##w to = select(at.lo, at.hi, better_##w);

int index_of_largest16(float16 v, int16 at) {
  BETTER_HALF(v, at, 8, at8)
  BETTER_HALF(value_8, at8, 4, at4)
  BETTER_HALF(value_4, at4, 2, at2)
  const bool second = value_2.y > value_2.x || (value_2.y == value_2.x && at2.y > at2.x);
  return second ? at2.y : at2.x;
}

int sum16(int16 x) {
  const int8 a = x.lo + x.hi;
  const int4 b = a.lo + a.hi;
  const int2 c = b.lo + b.hi;
  return c.x + c.y;
}

// Counts the eligible rows with v <= value (or v == value and row >= from).
int count_rows(Rows r, int low, Cut up, float value, int from) {
  int16 count = (int16)(0);
  for (int s = 0; r.span[2 * s] >= 0; ++s) {
    for (int b = r.span[2 * s]; b < r.span[2 * s + 1]; ++b) {
      const float16 f = vload16(b, r.f);
      const float16 v = low ? -f : f;
      const int16 taken = from < 0 ? v <= value : (v == value) & (b * BLOCK + LANES >= from);
      count -= eligible16(r, b, low, up) & taken;
    }
  }
  return sum16(count);
}

// The cut that selects the `want` best rows of a side, or fewer if fewer have a v up to `most`; the best v is `least`.
Cut find_cut(Rows r, int low, Cut up, int want, float least, float most, long ld) {
  Cut cut;
  cut.value = most;
  cut.row = 0;
  if (count_rows(r, low, up, most, -1) <= want) return cut;
  long from = key_of_float(least), to = key_of_float(most);
  int at_or_below = 0;
  while (from < to) {
    const long middle = from + (to - from) / 2;
    at_or_below = count_rows(r, low, up, float_of_key((int)middle), -1);
    if (at_or_below >= want) to = middle;
    else from = middle + 1;
    if (at_or_below == want) break;
  }
  cut.value = float_of_key((int)to);
  if (at_or_below == want) return cut;
  // Several rows are at the cut.
  const int extra = count_rows(r, low, up, cut.value, -1) - want;
  const int equal = count_rows(r, low, up, cut.value, 0);
  int first = 0, last = (int)ld;  // the largest first row from which equal - extra rows are left
  while (last - first > 1) {
    const int middle = first + (last - first) / 2;
    if (count_rows(r, low, up, cut.value, middle) >= equal - extra) first = middle;
    else last = middle;
  }
  cut.row = first;
  return cut;
}

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
      __global float *coef, __global int *counts, __global int *members_all, const long ld, const int want

__kernel void choose_vector(CHOOSE_ARGUMENTS) {
  const long p = order[get_group_id(0)];
  __global int* si = is + p * 8;
  __global float* sf = fs + p * 8;
  __global int* count = counts + p * 4;
  __global const char* y = sign + p * ld;
  __global int* flags = flags_all + p * ld;
  __global float* f = f_all + p * 2 * ld;
  __global float* a = a_all + p * 2 * ld;
  __global int* members = members_all + p * SET;
  const Rows r = {spans + p * MAX_SPANS * 2, flags, f};
  const bool first = si[I_STATUS] == START;
  count[MOVED] = 0;
  if (first) count[INSIDE] = 0;
  if (count[INSIDE] != 0) return;
  count[MEMBERS] = 0;
  if (!first && si[I_STATUS] != RUNNING) return;
  if (first)
    for (long k = 0; k < ld; ++k) BEGIN_ROW(k);

  float16 up16 = (float16)(INFINITY), low16 = (float16)(-INFINITY);
  for (int s = 0; r.span[2 * s] >= 0; ++s) {
    for (int b = r.span[2 * s]; b < r.span[2 * s + 1]; ++b) {
      const float16 h = vload16(b, f);
      const int16 flag = vload16(b, flags);
      up16 = select(up16, h, ((flag & UP) != 0) & (h < up16));
      low16 = select(low16, h, ((flag & LOW) != 0) & (h > low16));
    }
  }
  float up = -largest16(-up16), low = largest16(low16);
  const bool both = up < INFINITY && low > -INFINITY;
  if (both && !(low - up < INFINITY)) up = NAN;  // kernel values have overflowed, which rho shows
  if (!both || !(first || low - up >= sf[S_TOL])) {
    si[I_STATUS] = CONVERGED;
  } else if (si[I_LEFT] <= 0) {
    si[I_STATUS] = STUCK;
  } else {
    Cut none;
    none.value = -INFINITY;
    none.row = 0;
    const float gap = low - up;
    const Cut up_cut = find_cut(r, 0, none, want, up, low + gap, ld);
    const Cut low_cut = find_cut(r, 1, up_cut, want, -low, gap - up, ld);
    int m = 0;
    for (int s = 0; r.span[2 * s] >= 0; ++s) {
      for (int b = r.span[2 * s]; b < r.span[2 * s + 1]; ++b) {
        const float16 h = vload16(b, f);
        const int16 row = b * BLOCK + LANES;
        const int16 taken = (eligible16(r, b, 0, up_cut) & within16(h, row, up_cut)) |
                            (eligible16(r, b, 1, up_cut) & within16(-h, row, low_cut));
        if (ANY16(taken)) {
          int each[16];
          vstore16(taken, 0, each);
          for (int t = 0; t < 16; ++t)
            if (each[t] != 0) members[m++] = b * BLOCK + t;
        }
      }
    }
    count[MEMBERS] = m;
    si[I_STATUS] = RUNNING;
  }
  if (first) {
    for (long k = 0; k < ld; ++k) f[k] = -(float)y[k];
    if (up < INFINITY) up = -1.0f;
    if (low > -INFINITY) low = 1.0f;
  }
  sf[S_UP] = up;
  sf[S_LOW] = low;
  if (si[I_STATUS] != RUNNING) write_model(si, sf, y, flags, f, a, coef, ld);
}

// Moves the multipliers of the members i and j, as take_step in libsvm.cl does; returns the step.
#define TAKE_STEP(step, i, j, k_ij)                                                       \
  do {                                                                                    \
    const float eta_ = fmax(diagonal_of[i] + diagonal_of[j] - 2.0f * (k_ij), TAU);        \
    const float room_i_ = label[i] > 0 ? (c - high[i]) - rest[i] : high[i] + rest[i];     \
    const float room_j_ = label[j] > 0 ? high[j] + rest[j] : (c_minus - high[j]) - rest[j]; \
    (step) = fmin(((fm[j] - fm[i]) + (fl[j] - fl[i])) / eta_, fmin(room_i_, room_j_));    \
    ADD_TO(high[i], rest[i], label[i] > 0 ? (step) : -(step));                            \
    ADD_TO(high[j], rest[j], label[j] > 0 ? -(step) : (step));                            \
    state[i] = (step) >= room_i_ ? LOW : (UP | LOW);                                      \
    state[j] = (step) >= room_j_ ? UP : (UP | LOW);                                       \
  } while (0)

// (h, l) += step * t, with h the rounded value.
#define ADD_STEP(T, h, l, step, t)                  \
  do {                                              \
    const T t_ = (t);                               \
    const T p_ = (step) * t_;                       \
    const T q_ = fma((step), t_, -p_);              \
    const T s_ = (h) + p_;                          \
    const T b_ = s_ - (h);                          \
    const T e_ = ((h) - (s_ - b_)) + (p_ - b_);     \
    (l) += e_ + q_;                                 \
    (h) = s_ + (l);                                 \
    (l) -= (h) - s_;                                \
  } while (0)

#define ADD_TO(h, l, x)                          \
  do {                                           \
    float e_;                                    \
    const float s_ = two_sum(h, x, &e_);         \
    const float l_ = (l) + e_;                   \
    (h) = s_ + l_;                               \
    (l) = l_ - ((h) - s_);                       \
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

#define STRIP 32  // rows of the kernel matrix per work-item of gather_vector

// Work-items are ordered by rows, then by places: problems share the rows that are in the caches.
__kernel void gather_vector(GATHER_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  __global const int* count = counts + p * 4;
  const int m = count[MEMBERS];
  if (m == 0 || count[INSIDE] != 0) return;
  __global const int* members = members_all + p * SET;
  const int from = (int)(get_group_id(0) / running) * STRIP;
  int first = 0, last = m;  // the first member from row `from` on
  while (first < last) {
    const int middle = (first + last) / 2;
    if (members[middle] < from) first = middle + 1;
    else last = middle;
  }
  for (int x = first; x < m && members[x] < from + STRIP; ++x) {
    __global const float* row = ROW(slot[members[x]]);
    __global float* to = tile_all + (p * SET + x) * SET;
    for (int z = 0; z < m; ++z) to[z] = row[members[z]];
    for (int z = m; z % BLOCK != 0; ++z) to[z] = 0.0f;
  }
}

#define SOLVE_ARGUMENTS                                                                                               \
  __global const int *order, __global int *is, __global float *fs, __global const char *sign, __global int *flags_all, \
      __global const float *f_all, __global float *a_all, __global int *counts, __global const int *members_all,      \
      __global int *moved_all, __global float *delta_all, __global float *inner_all,                                   \
      __global const float *tile_all, __global const float *diagonal, const long ld, const int max_steps,             \
      const float largest

__kernel void solve_vector(SOLVE_ARGUMENTS) {
  const long p = order[get_group_id(0)];
  __global int* si = is + p * 8;
  __global float* sf = fs + p * 8;
  __global int* count = counts + p * 4;
  const int m = count[MEMBERS];
  if (m == 0) return;
  __global const char* y = sign + p * ld;
  __global int* flags = flags_all + p * ld;
  __global const float* f = f_all + p * 2 * ld;
  __global float* a = a_all + p * 2 * ld;
  __global const int* members = members_all + p * SET;
  __global int* moved = moved_all + p * SET;
  __global float* delta = delta_all + p * 2 * SET;
  __global float* inner = inner_all + p * 5 * SET;
  __global const float* tile = tile_all + p * SET * SET;
  const float c = sf[S_C], c_minus = sf[S_C_MINUS], tol = sf[S_TOL];
  const bool again = count[INSIDE] != 0;
  const int blocks = (m + BLOCK - 1) / BLOCK;

  float fm[SET], fl[SET], high[SET], rest[SET], diagonal_of[SET];
  int state[SET], label[SET];
  for (int x = 0; x < m; ++x) {
    const int k = members[x];
    label[x] = y[k];
    diagonal_of[x] = diagonal[k];
    fm[x] = again ? inner[x] : f[k];
    high[x] = again ? inner[SET + x] : a[k];
    rest[x] = again ? inner[2 * SET + x] : a[ld + k];
    state[x] = again ? as_int(inner[3 * SET + x]) : flags[k];
    fl[x] = again ? inner[4 * SET + x] : f[ld + k];
  }
  for (int x = m; x < blocks * BLOCK; ++x) {
    fm[x] = 0.0f;
    fl[x] = 0.0f;
    diagonal_of[x] = 0.0f;
    state[x] = 0;
  }

  float step = 0.0f;
  __global const float* ki = 0;
  __global const float* kj = 0;
  float enough = again ? sf[S_UP_REST] : 0.0f;  // the gap at which the round ends
  bool fresh = true;
  bool done = false;
  int steps = 0;
  const int most = min(max_steps, si[I_LEFT]);
  while (true) {
    float16 up16 = (float16)(INFINITY), low16 = (float16)(-INFINITY);
    int16 up_at = (int16)(NONE);
    const float16 step16 = (float16)(step);
    for (int b = 0; b < blocks; ++b) {
      float16 h = vload16(b, fm);
      if (!fresh) {
        float16 l = vload16(b, fl);
        ADD_STEP(float16, h, l, step16, vload16(b, ki) - vload16(b, kj));
        vstore16(h, b, fm);
        vstore16(l, b, fl);
      }
      const int16 flag = vload16(b, state);
      const int16 better = ((flag & UP) != 0) & (h <= up16);
      up16 = select(up16, h, better);
      up_at = select(up_at, b * BLOCK + LANES, better);
      low16 = select(low16, h, ((flag & LOW) != 0) & (h > low16));
    }
    const float up = -largest16(-up16), low = largest16(low16);
    const int i = index_of_largest16(-up16, up_at);
    if (fresh && !again) enough = fmax(SHARE_OF_TOL * tol, SHARE_OF_GAP * (low - up));
    fresh = false;
    done = !(low - up >= enough) || low - up == INFINITY || i == NONE;
    if (done || steps >= most) break;

    ki = tile + i * SET;
    float16 best = (float16)(-1.0f);
    int16 best_at = (int16)(NONE);
    for (int b = 0; b < blocks; ++b) {
      const float16 diff = vload16(b, fm) - up;
      const int16 wanted = ((vload16(b, state) & LOW) != 0) & (diff > 0.0f);
      const float16 raw = diagonal_of[i] + vload16(b, diagonal_of) - 2.0f * vload16(b, ki);
      const float16 eta = LARGER((float16)(TAU), raw);
      const float16 gain = diff * diff / eta;
      const int16 better = wanted & (gain >= best);
      best = select(best, gain, better);
      best_at = select(best_at, b * BLOCK + LANES, better);
    }
    const int j = index_of_largest16(best, best_at);
    if (j == NONE) {  // kernel values have overflowed
      done = true;
      break;
    }
    kj = tile + j * SET;
    TAKE_STEP(step, i, j, ki[j]);
    ++steps;
  }
  si[I_STEPS] += steps;
  si[I_LEFT] -= done ? max(steps, LEAST_STEPS) : steps;

  if (!done && si[I_LEFT] > 0) {  // the launch is over, but not the round
    for (int x = 0; x < m; ++x) {
      inner[x] = fm[x];
      inner[SET + x] = high[x];
      inner[2 * SET + x] = rest[x];
      inner[3 * SET + x] = as_float(state[x]);
      inner[4 * SET + x] = fl[x];
    }
    sf[S_UP_REST] = enough;
    count[INSIDE] = 1;
    return;
  }
  int n = 0;
  float size[16];
  for (int t = 0; t < 16; ++t) size[t] = 0.0f;
  for (int x = 0; x < m; ++x) {
    const int k = members[x];
    float low;
    const float d = change_of(high[x], rest[x], a[k], a[ld + k], label[x], &low);
    if (d == 0.0f && low == 0.0f) continue;
    moved[n] = k;
    delta[n] = d;
    delta[SET + n] = low;
    ++n;
    size[x % 16] += fabs(d);
    a[k] = high[x];
    a[ld + k] = rest[x];
    flags[k] = state[x];
  }
  for (int t = 1; t < 16; ++t) size[0] += size[t];
  const float rounding = sf[S_ROUNDING] + HALF_ULP * largest * size[0];
  const bool small_ = rounding <= ROUNDING_OF_TOL * tol;
  if (small_) sf[S_ROUNDING] = rounding;
  count[IN_PAIRS] = !small_;
  count[MOVED] = n;
  count[INSIDE] = 0;
  if (n == 0) si[I_LEFT] = 0;  // nothing can move any more
}

#define UPDATE_ARGUMENTS                                                                                        \
  __global const int *order, const int running, __global const int *spans, __global const char *sign,           \
      __global float *f_all, __global const int *counts, __global const int *moved_all,                          \
      __global const float *delta_all, __global const int *slot, const long ld, PANELS

// (h, l) += d * k, where l collects the errors (Ogita, Rump, Oishi: Accurate sum and dot product, 2005).
#define ADD_PRODUCT(T, h, l, d, d_rest, k)            \
  do {                                                \
    const T k_ = (k);                                 \
    const T p_ = (d) * k_;                            \
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

#define WIDE 64  // blocks per work-item

// Updates `N` blocks from block b on, with their F in registers.
#define UPDATE_BLOCKS(N)                                                                    \
  do {                                                                                      \
    float16 h[N], l[N], sum[N];                                                             \
    for (int u = 0; u < (N); ++u) {                                                         \
      h[u] = vload16(b + u, f);                                                             \
      l[u] = vload16(b + u, f + ld);                                                        \
      sum[u] = (float16)(0.0f);                                                             \
    }                                                                                       \
    if (count[IN_PAIRS] != 0) {                                                             \
      for (int t = 0; t < n; ++t) {                                                         \
        __global const float* row = ROW(slot[moved[t]]) + b * BLOCK;                        \
        for (int u = 0; u < (N); ++u)                                                       \
          ADD_PRODUCT(float16, h[u], l[u], delta[t], delta[SET + t], vload16(u, row));      \
      }                                                                                     \
    } else {                                                                                \
      for (int t = 0; t < n; ++t) {                                                         \
        __global const float* row = ROW(slot[moved[t]]) + b * BLOCK;                        \
        for (int u = 0; u < (N); ++u) sum[u] = fma((float16)(delta[t]), vload16(u, row), sum[u]); \
      }                                                                                     \
    }                                                                                       \
    for (int u = 0; u < (N); ++u) {                                                         \
      ADD_SUM(float16, h[u], l[u], sum[u]);                                                 \
      vstore16(h[u], b + u, f);                                                             \
      vstore16(l[u], b + u, f + ld);                                                        \
    }                                                                                       \
    b += (N);                                                                               \
  } while (0)

// Work-items are ordered by columns, then by places, so that problems share the part of the kernel matrix that is in
// the caches.
__kernel void update_vector(UPDATE_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  __global const int* count = counts + p * 4;
  const int n = count[MOVED];
  if (n == 0) return;
  __global const int* moved = moved_all + p * SET;
  __global const float* delta = delta_all + p * 2 * SET;
  __global float* f = f_all + p * 2 * ld;
  __global const int* span = spans + p * MAX_SPANS * 2;
  const int from = (int)(get_group_id(0) / running) * WIDE;
  for (int s = 0; span[2 * s] >= 0; ++s) {
    const int end = min(from + WIDE, span[2 * s + 1]);
    int b = max(from, span[2 * s]);
    while (b + 4 <= end) UPDATE_BLOCKS(4);
    while (b < end) UPDATE_BLOCKS(1);
  }
}

// ---- one work-group per problem, one row per work-item and iteration: for GPUs --------------------------------------

// Every row k of the problem, in the iterations of this work-item.
#define FOR_ROWS(k)                            \
  for (int s_ = 0; r.span[2 * s_] >= 0; ++s_)  \
    for (int k = r.span[2 * s_] * BLOCK + lid; k < r.span[2 * s_ + 1] * BLOCK; k += GROUP)

bool within(float v, int row, Cut cut) { return v < cut.value || (v == cut.value && row >= cut.row); }

bool eligible(Rows r, int k, int low, Cut up) {
  if (!low) return (r.flags[k] & UP) != 0;
  return (r.flags[k] & LOW) != 0 && !((r.flags[k] & UP) != 0 && within(r.f[k], k, up));
}

// Gives every work-item the sum.
int group_sum(__local int* of, int lid, int x) {
  of[lid] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = GROUP / 2; half_ > 0; half_ >>= 1) {
    if (lid < half_) of[lid] += of[lid + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int sum = of[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

int count_together(__local int* scratch, int lid, Rows r, int low, Cut up, float value, int from) {
  int count = 0;
  FOR_ROWS(k) {
    const float v = low ? -r.f[k] : r.f[k];
    const bool taken = from < 0 ? v <= value : v == value && k >= from;
    count += taken && eligible(r, k, low, up);
  }
  return group_sum(scratch, lid, count);
}

// As find_cut. All branches are the bounds of loops, because some compilers fail on barriers below conditions; a call
// would cost stack on some cards.
__attribute__((always_inline)) Cut find_cut_together(__local int* scratch, int lid, Rows r, int low, Cut up, int want, float least, float most,
                      long ld) {
  Cut cut;
  int at_or_below = count_together(scratch, lid, r, low, up, most, -1);
  const bool all_fit = at_or_below <= want;
  long from = key_of_float(least), to = key_of_float(most);
  while (from < to && !all_fit && at_or_below != want) {
    const long middle = from + (to - from) / 2;
    at_or_below = count_together(scratch, lid, r, low, up, float_of_key((int)middle), -1);
    if (at_or_below >= want) to = middle;
    else from = middle + 1;
  }
  cut.value = float_of_key((int)to);
  const bool exact = all_fit || at_or_below == want;
  const int extra = count_together(scratch, lid, r, low, up, cut.value, -1) - want;
  const int equal = count_together(scratch, lid, r, low, up, cut.value, 0);
  int first = 0, last = exact ? 1 : (int)ld;
  while (last - first > 1) {
    const int middle = first + (last - first) / 2;
    if (count_together(scratch, lid, r, low, up, cut.value, middle) >= equal - extra) first = middle;
    else last = middle;
  }
  cut.row = first;
  return cut;
}

// Sorts SET integers.
void sort_together(__local int* x, int lid) {
  for (int size = 2; size <= SET; size <<= 1)
    for (int stride = size >> 1; stride > 0; stride >>= 1) {
      for (int t = lid; t < SET; t += GROUP) {
        const int other = t ^ stride;
        const int a = x[t], b = x[other];
        if (other > t && (a > b) == ((t & size) == 0)) {
          x[t] = b;
          x[other] = a;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void choose_group(CHOOSE_ARGUMENTS) {
  __local float l_value[GROUP], l_rest[GROUP];
  __local int l_at[GROUP], l_members[SET], l_count;
  __local ModelSums l_sums;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  __global int* si = is + p * 8;
  __global float* sf = fs + p * 8;
  __global int* count = counts + p * 4;
  __global const char* y = sign + p * ld;
  __global int* flags = flags_all + p * ld;
  __global float* f = f_all + p * 2 * ld;
  __global float* a = a_all + p * 2 * ld;
  __global int* members = members_all + p * SET;
  const Rows r = {spans + p * MAX_SPANS * 2, flags, f};
  const int before = si[I_STATUS], left = si[I_LEFT];
  const bool first = before == START;
  const bool active = first || (before == RUNNING && count[INSIDE] == 0);
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (lid == 0) {
    count[MOVED] = 0;
    if (first) count[INSIDE] = 0;
    if (active || before != RUNNING) count[MEMBERS] = 0;
  }
  for (long k = first ? lid : ld; k < ld; k += GROUP) BEGIN_ROW(k);
  barrier(CLK_GLOBAL_MEM_FENCE);

  float up = INFINITY, low = INFINITY;  // `low` is negated
  FOR_ROWS(k) {
    const float h = f[k];
    if ((flags[k] & UP) != 0) up = h < up ? h : up;
    if ((flags[k] & LOW) != 0) low = -h < low ? -h : low;
  }
  float nothing = 0.0f;
  int none_at = 0;
  group_min(GROUP, l_value, l_rest, l_at, lid, &up, &nothing, &none_at);
  group_min(GROUP, l_value, l_rest, l_at, lid, &low, &nothing, &none_at);
  low = -low;
  const bool both = up < INFINITY && low > -INFINITY;
  if (both && !(low - up < INFINITY)) up = NAN;  // kernel values have overflowed, which rho shows
  int status = before;
  if (active) status = !both || !(first || low - up >= sf[S_TOL]) ? CONVERGED : (left <= 0 ? STUCK : RUNNING);

  const bool chooses = active && status == RUNNING;
  const int wanted = chooses ? want : 0;
  const float gap = chooses ? low - up : 0.0f;
  Cut none;
  none.value = -INFINITY;
  none.row = 0;
  // Where nothing is to be chosen, both bounds are the same and no row is searched for.
  const Cut up_cut = find_cut_together(l_at, lid, r, 0, none, wanted, up, chooses ? low + gap : up, ld);
  const Cut low_cut = find_cut_together(l_at, lid, r, 1, up_cut, wanted, -low, chooses ? gap - up : -low, ld);
  for (int x = lid; x < SET; x += GROUP) l_members[x] = INT_MAX;
  if (lid == 0) l_count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  FOR_ROWS(k) {
    if (chooses && ((eligible(r, k, 0, up_cut) && within(f[k], k, up_cut)) ||
                    (eligible(r, k, 1, up_cut) && within(-f[k], k, low_cut))))
      l_members[atomic_inc(&l_count)] = k;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sort_together(l_members, lid);
  for (int x = lid; x < l_count; x += GROUP) members[x] = l_members[x];
  if (lid == 0 && chooses) count[MEMBERS] = l_count;
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long k = first ? lid : ld; k < ld; k += GROUP) f[k] = -(float)y[k];
  if (first && up < INFINITY) up = -1.0f;
  if (first && low > -INFINITY) low = 1.0f;
  if (lid == 0 && active) {
    si[I_STATUS] = status;
    sf[S_UP] = up;
    sf[S_LOW] = low;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  write_model_together(lid, active && status != RUNNING ? 16 : 0, &l_sums, si, sf, y, flags, f, a, coef, ld);
}

// A work-group per member.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gather_group(GATHER_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  const int x = (int)(get_group_id(0) / running);
  __global const int* count = counts + p * 4;
  const int m = count[MEMBERS];
  if (x >= m || count[INSIDE] != 0) return;
  __global const int* members = members_all + p * SET;
  __global const float* row = ROW(slot[members[x]]);
  __global float* to = tile_all + (p * SET + x) * SET;
  for (int z = get_local_id(0); z < m; z += GROUP) to[z] = row[members[z]];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void solve_group(SOLVE_ARGUMENTS) {
  __local float fm[SET], fl[SET], high[SET], rest[SET], diagonal_of[SET];
  __local int state[SET];
  __local char label[SET];
  __local float l_value[GROUP], l_rest[GROUP];
  __local int l_at[GROUP];
  __local float l_step;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  __global int* si = is + p * 8;
  __global float* sf = fs + p * 8;
  __global int* count = counts + p * 4;
  const int m = count[MEMBERS];
  __global const char* y = sign + p * ld;
  __global int* flags = flags_all + p * ld;
  __global const float* f = f_all + p * 2 * ld;
  __global float* a = a_all + p * 2 * ld;
  __global const int* members = members_all + p * SET;
  __global int* moved = moved_all + p * SET;
  __global float* delta = delta_all + p * 2 * SET;
  __global float* inner = inner_all + p * 5 * SET;
  __global const float* tile = tile_all + p * SET * SET;
  const float c = sf[S_C], c_minus = sf[S_C_MINUS], tol = sf[S_TOL];
  const bool again = count[INSIDE] != 0;
  const int most = m == 0 ? 0 : min(max_steps, si[I_LEFT]);

  for (int x = lid; x < m; x += GROUP) {
    const int k = members[x];
    label[x] = y[k];
    diagonal_of[x] = diagonal[k];
    fm[x] = again ? inner[x] : f[k];
    high[x] = again ? inner[SET + x] : a[k];
    rest[x] = again ? inner[2 * SET + x] : a[ld + k];
    state[x] = again ? as_int(inner[3 * SET + x]) : flags[k];
    fl[x] = again ? inner[4 * SET + x] : f[ld + k];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  float step = 0.0f;
  __global const float* ki = 0;
  __global const float* kj = 0;
  float enough = again ? sf[S_UP_REST] : 0.0f;
  bool fresh = true;
  bool done = false;
  int steps = 0;
  float nothing = 0.0f;
  while (true) {
    float up = INFINITY, high_low = INFINITY;  // the second is the negated maximum over I_low
    int i = NONE;
    for (int x = lid; x < m; x += GROUP) {
      float h = fm[x];
      if (!fresh) {
        float l = fl[x];
        ADD_STEP(float, h, l, step, ki[x] - kj[x]);
        fm[x] = h;
        fl[x] = l;
      }
      if ((state[x] & UP) != 0 && h <= up) {
        up = h;
        i = x;
      }
      if ((state[x] & LOW) != 0 && -h < high_low) high_low = -h;
    }
    int none_at = 0;
    group_min(GROUP, l_value, l_rest, l_at, lid, &up, &nothing, &i);
    group_min(GROUP, l_value, l_rest, l_at, lid, &high_low, &nothing, &none_at);
    const float low = -high_low;
    if (fresh && !again) enough = fmax(SHARE_OF_TOL * tol, SHARE_OF_GAP * (low - up));
    fresh = false;
    done = !(low - up >= enough) || low - up == INFINITY || i == NONE;
    if (done || steps >= most) break;

    ki = tile + i * SET;
    float loss = 1.0f;  // the negated gain
    int j = NONE;
    const float kii = diagonal_of[i];
    for (int x = lid; x < m; x += GROUP) {
      const float diff = fm[x] - up;
      if ((state[x] & LOW) != 0 && diff > 0.0f) {
        const float raw = kii + diagonal_of[x] - 2.0f * ki[x];
        const float eta = raw > TAU ? raw : TAU;
        const float gain = diff * diff / eta;
        if (-gain <= loss) {
          loss = -gain;
          j = x;
        }
      }
    }
    group_min(GROUP, l_value, l_rest, l_at, lid, &loss, &nothing, &j);
    if (j == NONE) {
      done = true;
      break;
    }
    kj = tile + j * SET;
    if (lid == 0) {
      float taken;
      TAKE_STEP(taken, i, j, ki[j]);
      l_step = taken;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    step = l_step;
    ++steps;
  }
  const int left = si[I_LEFT] - (done ? max(steps, LEAST_STEPS) : steps);
  const bool continues = !done && left > 0;  // the launch is over, but not the round
  barrier(CLK_GLOBAL_MEM_FENCE);
  // fm and high become the two parts of the change, and state whether there is any.
  for (int x = lid; x < m; x += GROUP) {
    if (continues) {
      inner[x] = fm[x];
      inner[SET + x] = high[x];
      inner[2 * SET + x] = rest[x];
      inner[3 * SET + x] = as_float(state[x]);
      inner[4 * SET + x] = fl[x];
    } else {
      const int k = members[x];
      float low;
      const float d = change_of(high[x], rest[x], a[k], a[ld + k], label[x], &low);
      const bool has_moved = d != 0.0f || low != 0.0f;
      if (has_moved) {
        a[k] = high[x];
        a[ld + k] = rest[x];
        flags[k] = state[x];
      }
      state[x] = has_moved;
      fm[x] = d;
      high[x] = low;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < 16) {
    float size = 0.0f;
    for (int x = lid; x < m; x += 16)
      if (!continues && state[x] != 0) size += fabs(fm[x]);
    l_value[lid] = size;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && m > 0) {
    si[I_STEPS] += steps;
    si[I_LEFT] = left;
    count[INSIDE] = continues;
    if (continues) {
      sf[S_UP_REST] = enough;
    } else {
      int n = 0;
      for (int x = 0; x < m; ++x)
        if (state[x] != 0) {
          moved[n] = members[x];
          delta[n] = fm[x];
          delta[SET + n] = high[x];
          ++n;
        }
      float size = l_value[0];
      for (int t = 1; t < 16; ++t) size += l_value[t];
      const float rounding = sf[S_ROUNDING] + HALF_ULP * largest * size;
      const bool small_ = rounding <= ROUNDING_OF_TOL * tol;
      if (small_) sf[S_ROUNDING] = rounding;
      count[IN_PAIRS] = !small_;
      count[MOVED] = n;
      if (n == 0) si[I_LEFT] = 0;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void update_group(UPDATE_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  const long k = (long)(get_group_id(0) / running) * GROUP + get_local_id(0);
  __global const int* count = counts + p * 4;
  const int n = count[MOVED];
  if (n == 0 || k >= ld || sign[p * ld + k] == 0) return;
  __global const int* moved = moved_all + p * SET;
  __global const float* delta = delta_all + p * 2 * SET;
  __global float* f = f_all + p * 2 * ld;
  float h = f[k], l = f[ld + k], sum = 0.0f;
  if (count[IN_PAIRS] != 0) {
    for (int t = 0; t < n; ++t) ADD_PRODUCT(float, h, l, delta[t], delta[SET + t], ROW(slot[moved[t]])[k]);
  } else {
    for (int t = 0; t < n; ++t) sum = fma(delta[t], ROW(slot[moved[t]])[k], sum);
  }
  ADD_SUM(float, h, l, sum);
  f[k] = h;
  f[ld + k] = l;
}
