// Implements libsvm.cl for GPUs: a work-group solves a problem, and a work-item processes one row per iteration. Uses
// places.cl.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void smo_group(SMO_ARGUMENTS) {
  __local Comparison l_up, l_low;
  __local float l_step;
  __local ModelSums l_sums;
  const int lid = get_local_id(0);
  SMO_STATE;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (begins) {
    for (long k = lid; k < ld; k += GROUP) {
      BEGIN(k);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }

  int steps = 0;
  int need = -1;
  while (true) {
    float step = 0.0f;
    row_t ki = (row_t)f;
    row_t kj = (row_t)f;
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
      Best loss = {1.0f, 0.0f, NONE};  // the negated gain
      for (int s = 0; span[2 * s] >= 0; ++s) {
        for (int k = span[2 * s] * BLOCK + lid; k < span[2 * s + 1] * BLOCK; k += GROUP) {
          float h = f[k], l = f[ld + k];
          SHIFT(float, h, l, LOW_OFFSET(flags[k], epsilon));
          const float diff = (h - up) + (l - up_rest);
          if ((flags[k] & LOW) != 0 && diff > 0.0f) {
            const float eta = fmax(CURVATURE(kii, diagonal[k], VALUE(ki, k)), TAU);
            const float gain = diff * diff / eta;
            if (-gain <= loss.value) {
              loss.value = -gain;
              loss.at = k;
            }
          }
        }
      }
      const int j = group_best(lid, &l_up, loss).at;
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

    // The smallest F of I_up, and the largest of I_low, negated.
    Best best_up = {INFINITY, 0.0f, NONE}, best_low = {INFINITY, 0.0f, NONE};
    for (int s = 0; span[2 * s] >= 0; ++s) {
      for (int k = span[2 * s] * BLOCK + lid; k < span[2 * s + 1] * BLOCK; k += GROUP) {
        float h = f[k];
        float l = f[ld + k];
        if (!first) {
          ADD_STEP(float, h, l, step, VALUE(ki, k) - VALUE(kj, k));
          f[k] = h;
          f[ld + k] = l;
        }
        const int flag = flags[k];
        const float value_low = SHIFTED(h, LOW_OFFSET(flag, epsilon));
        SHIFT(float, h, l, UP_OFFSET(flag, epsilon));
        if ((flag & UP) != 0 && (h < best_up.value || (h == best_up.value && l <= best_up.rest))) {
          best_up.value = h;
          best_up.rest = l;
          best_up.at = k;
        }
        if ((flag & LOW) != 0 && -value_low < best_low.value) best_low.value = -value_low;
      }
    }
    group_best_of_two(lid, &l_up, &best_up, &l_low, &best_low);
    up = best_up.value;
    up_rest = best_up.rest;
    low = -best_low.value;
    i = first && si[I_BEST] != NONE ? si[I_BEST] : best_up.at;
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
