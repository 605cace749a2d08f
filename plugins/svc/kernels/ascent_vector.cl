// Gives each machine a work-item, with vectors of 16 features.
__kernel void ascent_vector(ARGUMENTS) {
  const int place = order[get_global_id(0)];
  OPEN(place);

  for (int i = first; i < first + count; ++i) {
    const int row = (int)((si[I_START] + (long)i * si[I_STEP]) % rows);
    if (sign[row] == 0 || (si[I_ALL] == 0 && active[row] == 0)) continue;
    __global const float* x = FEATURES(row);
    float16 sums[UNIT / 16];
    for (int j = 0; j < UNIT / 16; ++j) sums[j] = (float16)(0.0f);
    for (long k = 0; k < width; k += UNIT)
      for (int j = 0; j < UNIT / 16; ++j) sums[j] += PRODUCT(float16, vload16(j, weights + k), vload16(j, x + k));
    float16 lanes = sums[0];
    for (int j = 1; j < UNIT / 16; ++j) lanes += sums[j];
    const float bound = sign[row] < 0 ? -sf[F_C_MINUS] * weight[row] : sf[F_C] * weight[row];
    const float a = multipliers[row], high = bound > 0.0f ? bound : 0.0f;
    const float low = REGRESSION ? -high : (bound < 0.0f ? bound : 0.0f);
    const float g =
        sum_of_lanes(lanes) + (centre + PRODUCT(float, elastic, sum)) - (REGRESSION ? target[row] : (float)sign[row]);
    const float violation = violation_of(a, g, epsilon, low, high);
    const float to = violation > 0.0f ? moved(a, g, norms[row] + elastic, epsilon, low, high) : a;
    if (violation > most) most = violation;
    if (to != a) {
      const float by = to - a;
      for (long k = 0; k < width; k += 16) vstore16(vload16(0, weights + k) + PRODUCT(float16, by, vload16(0, x + k)), 0, weights + k);
      add_to(&sum, &rest, by);
      ++moves;
    }
    multipliers[row] = to;
    active[row] = violation > 0.0f ? 1 : 0;
  }

  sf[F_SUM] = sum;
  sf[F_SUM_REST] = rest;
  sf[F_VIOLATION] = most;
  si[I_MOVED] = moves;
}
