// Implements libsvm.cl for CPUs: a work-item solves a problem, 16 rows at a time. Uses places.cl.

// Prefetches a cache line. Processors prefetch a kernel row only after its first misses, and stop at the end of every
// page. Only PoCL turns the hint into an instruction; other compilers fail on it.
#ifdef HINTS
#define FETCH(p) __builtin_prefetch((const void*)(size_t)(p))
#else
#define FETCH(p)
#endif
#define AHEAD 512  // kernel values
#define ROUNDINGS (1.0f - 0x1p-20f)  // covers those of the product and of the quotient

float smallest(float16 x) {
  const float8 a = select(x.lo, x.hi, x.hi < x.lo);
  const float4 b = select(a.lo, a.hi, a.hi < a.lo);
  const float2 c = select(b.lo, b.hi, b.hi < b.lo);
  return select(c.x, c.y, c.y < c.x);
}

// Prefetches the part of a kernel row that a sweep visits before the lines that it prefetches itself arrive.
void fetch_start(row_t row, __global const int* span) {
  int left = AHEAD / BLOCK;
  for (int s = 0; span[2 * s] >= 0 && left > 0; ++s)
    for (int b = span[2 * s]; b < span[2 * s + 1] && left > 0; ++b, --left) FETCH(row + b * BLOCK);
}

__kernel void smo_vector(SMO_ARGUMENTS) {
  const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  SMO_STATE;
  if (begins) {
    for (long k = 0; k < ld; ++k) {
      BEGIN(k);
    }
  }

  int steps = 0;
  int j = -1;
  while (true) {
    float step = 0.0f;
    row_t ki = 0;
    row_t kj = 0;
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
      fetch_start(ki, span);
      const float kii = diagonal[i];
      float16 best = (float16)(-1.0f);
      int16 best_at = (int16)(NONE);
      float below = -1.0f;  // quotients that cannot reach the largest gain so far are not computed
      for (int s = 0; span[2 * s] >= 0; ++s) {
        for (int b = span[2 * s]; b < span[2 * s + 1]; ++b) {
          FETCH(ki + b * BLOCK + AHEAD);
          const int16 flag = vload16(b, flags);
          float16 h = vload16(b, f), l = vload16(b, f + ld);
          SHIFT(float16, h, l, LOW_OFFSET16(flag, epsilon));
          const float16 diff = (h - up) + (l - up_rest);
          const int16 is_low = (flag & LOW) != 0;
          const int16 wanted = is_low & (diff > 0.0f);
          if (ANY16(wanted)) {
            const float16 raw = CURVATURE(kii, vload16(b, diagonal), VALUES(b, ki));
            const float16 eta = LARGER((float16)(TAU), raw);
            const float16 square = diff * diff;
            if (!ANY16(wanted & ~(square < eta * below))) continue;
            const float16 gain = square / eta;
            const int16 better = wanted & (gain >= best);
            best = select(best, gain, better);
            best_at = select(best_at, b * BLOCK + lane, better);
            below = -smallest(-best) * ROUNDINGS;
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
      fetch_start(kj, span);
      step = TAKE_STEP(i, j);
      ++steps;
    }

    const float16 step16 = (float16)(step);
    float16 up16 = (float16)(INFINITY);
    float16 rest16 = (float16)(0.0f);
    float16 low16 = (float16)(-INFINITY);
    int16 up_at = (int16)(NONE);
    float least = INFINITY, most = -INFINITY;  // the extremes over all lanes, which most blocks do not reach
    for (int s = 0; span[2 * s] >= 0; ++s) {
      for (int b = span[2 * s]; b < span[2 * s + 1]; ++b) {
        float16 h = vload16(b, f);
        float16 l = vload16(b, f + ld);
        if (!first) {
          FETCH(kj + b * BLOCK + AHEAD);
          ADD_STEP(float16, h, l, step16, VALUES(b, ki) - VALUES(b, kj));
          vstore16(h, b, f);
          vstore16(l, b, f + ld);
        }
        const int16 flag = vload16(b, flags), is_up = (flag & UP) != 0, is_low = (flag & LOW) != 0;
        const float16 as_low = SHIFTED(h, LOW_OFFSET16(flag, epsilon));
        SHIFT(float16, h, l, UP_OFFSET16(flag, epsilon));
        if (!ANY16((is_up & (h <= least)) | (is_low & (as_low > most)))) continue;
        low16 = select(low16, as_low, is_low & (as_low > low16));
        const int16 better = is_up & ((h < up16) | ((h == up16) & (l <= rest16)));
        up16 = select(up16, h, better);
        rest16 = select(rest16, l, better);
        up_at = select(up_at, b * BLOCK + lane, better);
        least = smallest(up16);
        most = -smallest(-low16);
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
  // A problem that stops at the step limit also needs a model.
  if (status == CONVERGED || steps >= max_steps) write_model(si, sf, y, flags, f, a, coef, weight, ld);
}
