// Gives each machine a work-group. Item t owns weight k if k % UNIT is t, in registers; EACH is the number of its
// weights. The items look up the next UNIT rows of the pass together, and then visit the active ones one by one.
__kernel __attribute__((reqd_work_group_size(UNIT, 1, 1))) void ascent_group(ARGUMENTS) {
  __local float partial[2][UNIT], l_a[UNIT], l_bound[UNIT], l_target[UNIT], l_q[UNIT];
  __local int l_row[UNIT];
  const int place = order[get_group_id(0)], t = (int)get_local_id(0);
  OPEN(place);
  int turn = 0;
  float w[EACH];
  for (int e = 0; e < EACH; ++e) w[e] = e * UNIT < width ? weights[e * UNIT + t] : 0.0f;

  for (int base = first; base < first + count; base += UNIT) {
    l_row[t] = -1;
    if (base + t < first + count) {
      const int row = (int)((si[I_START] + (long)(base + t) * si[I_STEP]) % rows);
      const float bound = sign[row] < 0 ? -sf[F_C_MINUS] * weight[row] : sf[F_C] * weight[row];
      if (sign[row] != 0 && (si[I_ALL] != 0 || active[row] != 0)) {
        l_row[t] = row;
        l_bound[t] = bound;
        l_a[t] = multipliers[row];
        l_q[t] = norms[row] + elastic;
        l_target[t] = REGRESSION ? target[row] : (float)sign[row];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < UNIT; ++k) {
      if (l_row[k] < 0) continue;
      __global const float* x = FEATURES(l_row[k]);
      float xs[EACH], part = 0.0f;
      for (int e = 0; e < EACH; ++e) {
        xs[e] = e * UNIT < width ? x[e * UNIT + t] : 0.0f;
        part += PRODUCT(float, w[e], xs[e]);
      }
      partial[turn][t] = part;
      barrier(CLK_LOCAL_MEM_FENCE);
      float16 lanes = vload16(0, &partial[turn][0]);
      for (int j = 1; j < UNIT / 16; ++j) lanes += vload16(j, &partial[turn][0]);
      turn = 1 - turn;  // items may still read these sums during the next turn
      const float a = l_a[k], high = l_bound[k] > 0.0f ? l_bound[k] : 0.0f;
      const float low = REGRESSION ? -high : (l_bound[k] < 0.0f ? l_bound[k] : 0.0f);
      const float g = sum_of_lanes(lanes) + (centre + PRODUCT(float, elastic, sum)) - l_target[k];
      const float violation = violation_of(a, g, epsilon, low, high);
      const float to = violation > 0.0f ? moved(a, g, l_q[k], epsilon, low, high) : a;
      if (violation > most) most = violation;
      if (to != a) {
        const float by = to - a;
        for (int e = 0; e < EACH; ++e) w[e] += PRODUCT(float, by, xs[e]);
        add_to(&sum, &rest, by);
        ++moves;
      }
      if (t == k) {
        multipliers[l_row[k]] = to;
        active[l_row[k]] = violation > 0.0f ? 1 : 0;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int e = 0; e < EACH; ++e)
    if (e * UNIT < width) weights[e * UNIT + t] = w[e];
  if (t == 0) {
    sf[F_SUM] = sum;
    sf[F_SUM_REST] = rest;
    sf[F_VIOLATION] = most;
    si[I_MOVED] = moves;
  }
}
