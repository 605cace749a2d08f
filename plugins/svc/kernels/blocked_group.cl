// Implements blocked.cl for GPUs: a work-group solves a problem, and a work-item processes one row per iteration. Uses
// places.cl.

#define UNROLL _Pragma("unroll")
#define BOUND(x) bound[x]

// Loops over the rows k of the problem that belong to this work-item.
#define FOR_ROWS(k)                            \
  for (int s_ = 0; r.span[2 * s_] >= 0; ++s_)  \
    for (int k = r.span[2 * s_] * BLOCK + lid; k < r.span[2 * s_ + 1] * BLOCK; k += GROUP)

bool within(float v, int row, Cut cut) { return v < cut.value || (v == cut.value && row >= cut.row); }

bool eligible(Rows r, int k, int low, Cut up) {
  if (!low) return (r.flags[k] & UP) != 0;
  return (r.flags[k] & LOW) != 0 && !((r.flags[k] & UP) != 0 && within(r.f[k], k, up));
}

// Adds `x` over a group, and returns the sums to every work-item. There are two barriers, as in group_best.
static int4 group_sums(__local int4* of, int lid, int4 x) {
  of[lid] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < FIRST) {
    for (int t = 1; t < 16; ++t) x += of[lid + t * FIRST];
    of[GROUP + lid] = x;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  x = of[GROUP];
  for (int t = 1; t < FIRST; ++t) x += of[GROUP + t];
  return x;
}

// Counts the eligible rows with v <= each of four values.
static int4 count_up_to(__local int4* scratch, int lid, Rows r, int low, Cut up, float4 values) {
  int4 counts = 0;
  FOR_ROWS(k) {
    const float v = low ? -r.f[k] : r.f[k];
    if (eligible(r, k, low, up)) counts -= (float4)(v) <= values;
  }
  return group_sums(scratch, lid, counts);
}

// Counts the eligible rows from `from` on with v == value.
static int count_equal(__local int4* scratch, int lid, Rows r, int low, Cut up, float value, int from) {
  int4 count = 0;
  FOR_ROWS(k) {
    const float v = low ? -r.f[k] : r.f[k];
    count.x += v == value && k >= from && eligible(r, k, low, up);
  }
  return group_sums(scratch, lid, count).x;
}

// Narrows the search in find_cut_together by the count at one of the four values.
#define NARROW(i)                    \
  if (counts.i >= want) {            \
    to = at.i;                       \
    at_or_below = counts.i;          \
  } else {                           \
    from = max(from, at.i + 1);      \
  }

// Does the work of find_cut, but compares four values in a pass over the rows. All branches are the bounds of loops,
// because some compilers fail on barriers inside conditions. The function is always inlined, because a call would cost
// stack on some GPUs.
__attribute__((always_inline)) Cut find_cut_together(__local int4* scratch, int lid, Rows r, int low, Cut up, int want,
                                                     float least, float most, long ld) {
  int from = key_of_float(least), to = key_of_float(most), at_or_below = want;
  int4 at = (int4)(to);  // the first pass finds out whether all rows fit
  for (bool found = false; !found;) {
    const int4 counts = count_up_to(scratch, lid, r, low, up, as_float4(KEY(at)));
    NARROW(w);
    NARROW(z);
    NARROW(y);
    NARROW(x);
    found = from >= to || at_or_below == want;
    const uint apart = (uint)to - (uint)from, step = apart / 5 + 1;
    at = as_int4((uint)from + min(step * (uint4)(1, 2, 3, 4) - 1, apart - 1));
  }
  // If too many rows have the value of the cut, the last ones of them are taken. The first pass counts all of them.
  const int extra = at_or_below - want;
  int first = 0, last = extra == 0 ? 1 : (int)ld, middle = 0, equal = NONE;
  while (last - first > 1) {
    const int count = count_equal(scratch, lid, r, low, up, float_of_key(to), middle);
    if (equal == NONE) equal = count;
    else if (count >= equal - extra) first = middle;
    else last = middle;
    middle = first + (last - first) / 2;
  }
  Cut cut;
  cut.value = float_of_key(to);
  cut.row = first;
  return cut;
}

// Sorts SET integers with a bitonic network.
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
  __local Comparison l_up, l_low;
  __local int4 l_counts[GROUP + FIRST];
  __local int l_members[SET], l_count;
  __local ModelSums l_sums;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global int* count = counts + p * COUNTS;
  __global int* members = members_all + p * SET;
  const Rows r = {spans + p * MAX_SPANS * 2, flags, f};
  const int before = si[I_STATUS], left = si[I_LEFT];
  const bool first = before == START;
  const bool active = first || (before == RUNNING && count[INSIDE] == 0);
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (lid == 0) {
    count[MOVED] = 0;
    if (first) {
      count[INSIDE] = 0;
      count[POOR] = 0;
    }
    if (active || before != RUNNING) count[MEMBERS] = 0;
  }
  for (long k = first ? lid : ld; k < ld; k += GROUP) BEGIN_ROW(k);
  barrier(CLK_GLOBAL_MEM_FENCE);

  Best best_up = {INFINITY, 0.0f, NONE}, best_low = {INFINITY, 0.0f, NONE};  // the largest F of I_low is negated
  FOR_ROWS(k) {
    const float h = f[k];
    if ((flags[k] & UP) != 0) best_up.value = h < best_up.value ? h : best_up.value;
    if ((flags[k] & LOW) != 0) best_low.value = -h < best_low.value ? -h : best_low.value;
  }
  group_best_of_two(lid, &l_up, &best_up, &l_low, &best_low);
  float up = best_up.value, low = -best_low.value;
  const bool both = up < INFINITY && low > -INFINITY;
  if (both && !(low - up < INFINITY)) up = NAN;  // kernel values have overflowed, which rho shows
  int status = before;
  if (active) status = !both || !(first || low - up >= sf[S_TOL]) ? CONVERGED : (left <= 0 ? STUCK : RUNNING);

  const bool chooses = active && status == RUNNING;
  const int wanted = chooses ? want : (int)ld;  // no problem has more than ld rows, so the search ends at once
  const float gap = chooses ? low - up : 0.0f;
  Cut none;
  none.value = -INFINITY;
  none.row = 0;
  const Cut up_cut = find_cut_together(l_counts, lid, r, 0, none, wanted, up, chooses ? low + gap : up, ld);
  const Cut low_cut = find_cut_together(l_counts, lid, r, 1, up_cut, wanted, -low, chooses ? gap - up : -low, ld);
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
  write_model_together(lid, active && status != RUNNING ? 16 : 0, &l_sums, si, sf, y, flags, f, a, coef, weight, ld);
}

// Copies the kernel values of one member per work-group.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gather_group(GATHER_ARGUMENTS) {
  const long p = order[get_group_id(0) % running];
  const int x = (int)(get_group_id(0) / running);
  __global const int* count = counts + p * COUNTS;
  const int m = count[MEMBERS];
  if (x >= m || count[INSIDE] != 0) return;
  __global const int* members = members_all + p * SET;
  row_t row = ROW(slot[members[x]]);
  __global float* to = tile_all + (p * SET + x) * SET;
  for (int z = get_local_id(0); z < m; z += GROUP) to[z] = VALUE(row, members[z]);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void solve_group(SOLVE_ARGUMENTS) {
  __local float fm[SET], fl[SET], high[SET], rest[SET], diagonal_of[SET], bound[SET];
  __local uchar state[SET];
  __local char label[SET];
  __local Comparison l_up, l_low;
  __local float l_sizes[16], l_step;
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0)];
  STATE_OF(p);
  __global int* count = counts + p * COUNTS;
  const int m = count[MEMBERS];
  __global const int* members = members_all + p * SET;
  __global int* moved = moved_all + p * SET;
  __global float* delta = delta_all + p * 2 * SET;
  __global float* inner = inner_all + p * 5 * SET;
  __global const float* tile = tile_all + p * SET * SET;
  const float c = sf[S_C], c_minus = sf[S_C_MINUS], tol = sf[S_TOL];
  const int before = count[INSIDE];  // steps of the round in earlier launches
  const bool again = before != 0;
  const int most = m == 0 ? 0 : min(max_steps, si[I_LEFT]);

  for (int x = lid; x < m; x += GROUP) {
    const int k = members[x];
    label[x] = y[k];
    bound[x] = PRODUCT(float, y[k] > 0 ? c : c_minus, weight[k]);
    diagonal_of[x] = diagonal[k];
    fm[x] = again ? inner[x] : f[k];
    high[x] = again ? inner[SET + x] : a[k];
    rest[x] = again ? inner[2 * SET + x] : a[ld + k];
    state[x] = (uchar)(again ? as_int(inner[3 * SET + x]) : flags[k]);
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
  while (true) {
    Best best_up = {INFINITY, 0.0f, NONE}, best_low = {INFINITY, 0.0f, NONE};  // the largest F of I_low is negated
    for (int x = lid; x < m; x += GROUP) {
      float h = fm[x];
      if (!fresh) {
        float l = fl[x];
        ADD_STEP(float, h, l, step, ki[x] - kj[x]);
        fm[x] = h;
        fl[x] = l;
      }
      if ((state[x] & UP) != 0 && h <= best_up.value) {
        best_up.value = h;
        best_up.at = x;
      }
      if ((state[x] & LOW) != 0 && -h < best_low.value) best_low.value = -h;
    }
    group_best_of_two(lid, &l_up, &best_up, &l_low, &best_low);
    const float up = best_up.value, low = -best_low.value;
    const int i = best_up.at;
    if (fresh && !again) enough = fmax(SHARE_OF_TOL * tol, SHARE_OF_GAP * (low - up));
    fresh = false;
    done = !(low - up >= enough) || low - up == INFINITY || i == NONE;
    if (done || steps >= most) break;

    ki = tile + i * SET;
    Best loss = {1.0f, 0.0f, NONE};  // the negated gain
    const float kii = diagonal_of[i];
    for (int x = lid; x < m; x += GROUP) {
      const float diff = fm[x] - up;
      if ((state[x] & LOW) != 0 && diff > 0.0f) {
        const float raw = CURVATURE(kii, diagonal_of[x], ki[x]);
        const float eta = raw > TAU ? raw : TAU;
        const float gain = diff * diff / eta;
        if (-gain <= loss.value) {
          loss.value = -gain;
          loss.at = x;
        }
      }
    }
    const int j = group_best(lid, &l_up, loss).at;
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
  const int left = si[I_LEFT] - (done ? max(before + steps, LEAST_STEPS) - before : steps);
  const bool continues = !done && left > 0;  // whether the launch ends before the round
  barrier(CLK_GLOBAL_MEM_FENCE);
  // fm and high become the two parts of the change, and state[x] tells whether it is non-zero.
  for (int x = lid; x < m; x += GROUP) {
    if (continues) {
      inner[x] = fm[x];
      inner[SET + x] = high[x];
      inner[2 * SET + x] = rest[x];
      inner[3 * SET + x] = as_float((int)state[x]);
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
    l_sizes[lid] = size;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && m > 0) {
    si[I_STEPS] += steps;
    si[I_LEFT] = left;
    if (continues) {
      count[INSIDE] = before + steps;
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
      float size = l_sizes[0];
      for (int t = 1; t < 16; ++t) size += l_sizes[t];
      const float rounding = sf[S_ROUNDING] + PRODUCT(float, HALF_ULP * largest, size);
      const bool small_ = rounding <= ROUNDING_OF_TOL * tol;
      if (small_) sf[S_ROUNDING] = rounding;
      count[IN_PAIRS] = !small_;
      count[MOVED] = n;
      END_ROUND(before + steps);
      if (n == 0) si[I_LEFT] = 0;
    }
  }
}

#define WAITING 64   // rows whose addresses wait in local memory
#define IN_FLIGHT 8  // loads that a work-item issues before it needs the first

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void update_group(UPDATE_ARGUMENTS) {
  __local row_t rows[WAITING];
  __local float step[WAITING], rest[WAITING];
  const int lid = get_local_id(0);
  const long p = order[get_group_id(0) % running];
  const long k = (long)(get_group_id(0) / running) * GROUP + lid;
  __global const int* count = counts + p * COUNTS;
  __global const int* moved = moved_all + p * SET;
  __global const float* delta = delta_all + p * 2 * SET;
  __global float* f = f_all + p * 2 * ld;
  const int n = count[MOVED], in_pairs = count[IN_PAIRS];
  const bool live = k < ld && sign[p * ld + k] != 0;
  float h = live ? f[k] : 0.0f, l = live ? f[ld + k] : 0.0f, sum = 0.0f;
  for (int first = 0; first < n; first += WAITING) {
    const int some = min(WAITING, n - first);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < some) {
      rows[lid] = ROW(slot[moved[first + lid]]);
      step[lid] = delta[first + lid];
      rest[lid] = delta[SET + first + lid];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int t = live ? 0 : some;
    for (; t + IN_FLIGHT <= some; t += IN_FLIGHT) {
      float value[IN_FLIGHT];
      UNROLL
      for (int u = 0; u < IN_FLIGHT; ++u) value[u] = VALUE(rows[t + u], k);
      if (in_pairs) {
        UNROLL
        for (int u = 0; u < IN_FLIGHT; ++u) ADD_PRODUCT(float, h, l, step[t + u], rest[t + u], value[u]);
      } else {
        UNROLL
        for (int u = 0; u < IN_FLIGHT; ++u) sum = fma(step[t + u], value[u], sum);
      }
    }
    for (; t < some; ++t) {
      const float value = VALUE(rows[t], k);
      if (in_pairs)
        ADD_PRODUCT(float, h, l, step[t], rest[t], value);
      else
        sum = fma(step[t], value, sum);
    }
  }
  if (n > 0 && live) {
    ADD_SUM(float, h, l, sum);
    f[k] = h;
    f[ld + k] = l;
  }
}
