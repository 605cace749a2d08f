// Implements blocked.cl for CPUs: a work-item solves a problem, 16 rows at a time. Uses places.cl.

#define BOUND(x) PRODUCT(float, label[x] > 0 ? c : c_minus, weight[members[x]])
#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

int16 within16(float16 v, int16 row, Cut cut) { return (v < cut.value) | ((v == cut.value) & (row >= cut.row)); }

// Returns the rows of a block that a side may choose: rows of I_up, or rows of I_low outside the cut of I_up.
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

// Keeps the better half of (v, at) in value_##w and `to`: larger values or, for ties, larger indices. No lane is NaN.
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

// Returns the cut of the `want` best rows of a side, or of fewer if fewer have v <= `most`. `least` is the best v.
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
  // Several rows lie on the cut.
  const int extra = count_rows(r, low, up, cut.value, -1) - want;
  const int equal = count_rows(r, low, up, cut.value, 0);
  int first = 0, last = (int)ld;  // `first` becomes the largest start that keeps equal - extra rows
  while (last - first > 1) {
    const int middle = first + (last - first) / 2;
    if (count_rows(r, low, up, cut.value, middle) >= equal - extra) first = middle;
    else last = middle;
  }
  cut.row = first;
  return cut;
}

__kernel void choose_vector(CHOOSE_ARGUMENTS) {
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global int* count = counts + p * COUNTS;
  __global int* members = members_all + p * SET;
  const Rows r = {spans + p * MAX_SPANS * 2, flags, f};
  const bool first = si[I_STATUS] == START;
  count[MOVED] = 0;
  if (first) {
    count[INSIDE] = 0;
    count[POOR] = 0;
  }
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
  if (si[I_STATUS] != RUNNING) write_model(si, sf, y, flags, f, a, coef, weight, ld);
}

#define STRIP 32  // rows of the kernel matrix that a work-item of gather_vector copies

// Work-items are ordered by rows, then by places, so that problems share the cached rows.
__kernel void gather_vector(GATHER_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  __global const int* count = counts + p * COUNTS;
  const int m = count[MEMBERS];
  if (m == 0 || count[INSIDE] != 0) return;
  __global const int* members = members_all + p * SET;
  const int from = (int)(get_group_id(0) / running) * STRIP;
  int first = 0, last = m;  // the search finds the first member in or after row `from`
  while (first < last) {
    const int middle = (first + last) / 2;
    if (members[middle] < from) first = middle + 1;
    else last = middle;
  }
  for (int x = first; x < m && members[x] < from + STRIP; ++x) {
    row_t row = ROW(slot[members[x]]);
    __global float* to = tile_all + (p * SET + x) * SET;
    for (int z = 0; z < m; ++z) to[z] = VALUE(row, members[z]);
    for (int z = m; z % BLOCK != 0; ++z) to[z] = 0.0f;
  }
}

__kernel void solve_vector(SOLVE_ARGUMENTS) {
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global int* count = counts + p * COUNTS;
  const int m = count[MEMBERS];
  if (m == 0) return;
  __global const int* members = members_all + p * SET;
  __global int* moved = moved_all + p * SET;
  __global float* delta = delta_all + p * 2 * SET;
  __global float* inner = inner_all + p * 5 * SET;
  __global const float* tile = tile_all + p * SET * SET;
  const float c = sf[S_C], c_minus = sf[S_C_MINUS], tol = sf[S_TOL];
  const int before = count[INSIDE];  // steps of the round in earlier launches
  const bool again = before != 0;
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
      const float16 raw = CURVATURE(diagonal_of[i], vload16(b, diagonal_of), vload16(b, ki));
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
  si[I_LEFT] -= done ? max(before + steps, LEAST_STEPS) - before : steps;

  if (!done && si[I_LEFT] > 0) {  // the launch ends before the round
    for (int x = 0; x < m; ++x) {
      inner[x] = fm[x];
      inner[SET + x] = high[x];
      inner[2 * SET + x] = rest[x];
      inner[3 * SET + x] = as_float(state[x]);
      inner[4 * SET + x] = fl[x];
    }
    sf[S_UP_REST] = enough;
    count[INSIDE] = before + steps;
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
  const float rounding = sf[S_ROUNDING] + PRODUCT(float, HALF_ULP * largest, size[0]);
  const bool small_ = rounding <= ROUNDING_OF_TOL * tol;
  if (small_) sf[S_ROUNDING] = rounding;
  count[IN_PAIRS] = !small_;
  count[MOVED] = n;
  END_ROUND(before + steps);
  if (n == 0) si[I_LEFT] = 0;  // no multiplier can move
}

#define WIDE 8  // blocks per work-item

// Updates `N` blocks from block b on while their F stays in registers.
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
        row_t row = ROW(slot[moved[t]]) + b * BLOCK;                                        \
        for (int u = 0; u < (N); ++u)                                                       \
          ADD_PRODUCT(float16, h[u], l[u], delta[t], delta[SET + t], VALUES(u, row));       \
      }                                                                                     \
    } else {                                                                                \
      for (int t = 0; t < n; ++t) {                                                         \
        row_t row = ROW(slot[moved[t]]) + b * BLOCK;                                        \
        for (int u = 0; u < (N); ++u) sum[u] = fma((float16)(delta[t]), VALUES(u, row), sum[u]);  \
      }                                                                                     \
    }                                                                                       \
    for (int u = 0; u < (N); ++u) {                                                         \
      ADD_SUM(float16, h[u], l[u], sum[u]);                                                 \
      vstore16(h[u], b + u, f);                                                             \
      vstore16(l[u], b + u, f + ld);                                                        \
    }                                                                                       \
    b += (N);                                                                               \
  } while (0)

// Work-items are ordered by columns, then by places, so that problems share the cached part of the kernel matrix.
__kernel void update_vector(UPDATE_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  __global const int* count = counts + p * COUNTS;
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
