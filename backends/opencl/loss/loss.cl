// Losses of a batch, after math.cl and runs.cl. One work-item does rows_each rows. An index or a label outside its
// range gives NaN instead of a read outside the buffer.

// out = {loss, hit}; without `wanted`, grad is not touched. The sum of exponentials goes in the order of the columns.
__kernel void softmax_loss(ITEM long rows, long columns, long rows_each, __global const float* logits, long x_offset,
                           long x_step, __global const int* label, long label_offset, long labels,
                           __global const int* index, long index_offset, __global float* out, long out_offset,
                           long out_step, int wanted, __global float* grad, long grad_offset, long grad_step,
                           float scale) {
  const long r0 = (long)get_global_id(0) * rows_each, r1 = min(r0 + rows_each, rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = logits + x_offset + r * x_step;
    __global float* to = out + out_offset + r * out_step;
    const long place = index[index_offset + r];
    const long target = place < 0 || place >= labels ? -1 : label[label_offset + place];
    long best = 0;
    float largest = x[0];
    bool good = target >= 0 && target < columns;
    for (long c = 0; c < columns; ++c) {
      const float v = x[c];
      good = good && v == v;
      best = v > largest ? c : best;
      largest = v > largest ? v : largest;
    }
    if (!good) largest = NAN;
    float terms[VW];
    float sum = 0.0f;
    for (long c = 0; c < columns; c += VW) {
      const int n = (int)min((long)VW, columns - c);
      VSTORE(exp_f32(load_some(x + c, n) - SPLAT(largest)), 0, terms);
      for (int i = 0; i < n; ++i) sum += terms[i];
    }
    VSTORE(log_f32(SPLAT(sum)), 0, terms);
    to[0] = good ? terms[0] - (x[target] - largest) : NAN;
    to[1] = good && best == target ? 1.0f : 0.0f;
    if (!wanted) continue;
    VSTORE(reciprocal(SPLAT(sum)), 0, terms);
    const vec share = SPLAT(terms[0]);
    __global float* dx = grad + grad_offset + r * grad_step;
    for (long c = 0; c < columns; c += VW) {
      const int n = (int)min((long)VW, columns - c);
      const vec p = exp_f32(load_some(x + c, n) - SPLAT(largest)) * share;
      if (target < c || target >= c + n) {
        store_some(p * SPLAT(scale), dx + c, n);
        continue;
      }
      VSTORE(p, 0, terms);
      terms[target - c] -= 1.0f;
      store_some(VLOAD(0, terms) * SPLAT(scale), dx + c, n);
    }
  }
}

#if VW > 1
#define SHORT_ROW 64

// The same for rows of at most SHORT_ROW columns, a row to a lane: the same operations, so the same bits.
__kernel ONE_ITEM void softmax_loss_short(ITEM long rows, long columns, long rows_each, __global const float* logits,
                                          long x_offset, long x_step, __global const int* label, long label_offset,
                                          long labels, __global const int* index, long index_offset,
                                          __global float* out, long out_offset, long out_step, int wanted,
                                          __global float* grad, long grad_offset, long grad_step, float scale) {
  const long r0 = (long)get_global_id(0) * rows_each, r1 = min(r0 + rows_each, rows);
  const int count = (int)columns;
  float tile[SHORT_ROW * VW];  // columns of VW rows
  int targets[VW];
  float at_target[VW], losses[VW], hits[VW];
  for (long r = r0; r < r1; r += VW) {
    const int live = (int)min((long)VW, r1 - r);
    for (int i = 0; i < VW; ++i) {
      // Lanes without a row repeat the last one.
      const long row = r + min(i, live - 1);
      __global const float* x = logits + x_offset + row * x_step;
      for (int c = 0; c < count; ++c) tile[c * VW + i] = x[c];
      const long place = index[index_offset + row];
      const int target = place < 0 || place >= labels ? -1 : label[label_offset + place];
      const bool inside = target >= 0 && target < count;
      targets[i] = inside ? target : 0;
      at_target[i] = inside ? x[target] : NAN;
    }
    vec largest = VLOAD(0, tile);
    ivec best = (ivec)(0), good = largest == largest;
    for (int c = 1; c < count; ++c) {
      const vec v = VLOAD(c, tile);
      const ivec larger = v > largest;
      good &= v == v;
      best = larger ? (ivec)(c) : best;
      largest = larger ? v : largest;
    }
    const ivec target = VLOAD(0, targets);
    const vec target_logit = VLOAD(0, at_target);
    // Without a label in range the logit is NaN.
    good &= target_logit == target_logit;
    largest = good ? largest : NAN;
    vec sum = SPLAT(0.0f);
    for (int c = 0; c < count; ++c) {
      const vec e = exp_f32(VLOAD(c, tile) - largest);
      sum += e;
      VSTORE(e, c, tile);
    }
    VSTORE(log_f32(sum) - (target_logit - largest), 0, losses);
    VSTORE((good & (best == target)) ? SPLAT(1.0f) : SPLAT(0.0f), 0, hits);
    for (int i = 0; i < live; ++i) {
      __global float* to = out + out_offset + (r + i) * out_step;
      to[0] = losses[i];
      to[1] = hits[i];
    }
    if (!wanted) continue;
    const vec share = reciprocal(sum);
    for (int c = 0; c < count; ++c) {
      const vec p = VLOAD(c, tile) * share;
      VSTORE((target == (ivec)(c) ? p - SPLAT(1.0f) : p) * SPLAT(scale), c, tile);
    }
    for (int i = 0; i < live; ++i) {
      __global float* dx = grad + grad_offset + (r + i) * grad_step;
      for (int c = 0; c < count; ++c) dx[c] = tile[c * VW + i];
    }
  }
}
#endif

// Squares are added as in row_norm2.cl. `mean` is 1 / columns, `factor` 2 * scale / columns.
__kernel void squared_loss(ITEM long rows, long columns, long rows_each, __global const float* prediction, long x_offset,
                           long x_step, __global const float* targets, long target_offset, long target_step,
                           long target_rows, __global const int* index, long index_offset, __global float* out,
                           long out_offset, long out_step, int wanted, __global float* grad, long grad_offset,
                           long grad_step, float mean, float factor) {
  const long r0 = (long)get_global_id(0) * rows_each, r1 = min(r0 + rows_each, rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = prediction + x_offset + r * x_step;
    __global float* to = out + out_offset + r * out_step;
    __global float* dx = grad + grad_offset + r * grad_step;
    const long place = index[index_offset + r];
    const bool good = place >= 0 && place < target_rows;
    __global const float* t = good ? targets + target_offset + place * target_step : x;
    const float by = good ? factor : NAN;
    float16 lanes = (float16)(good ? 0.0f : NAN);
    long c = 0;
    for (; c + 16 <= columns; c += 16) {
      const float16 d = vload16(0, x + c) - vload16(0, t + c);
      lanes = fma(d, d, lanes);
      if (wanted) vstore16(d * by, 0, dx + c);
    }
    if (c < columns) {
      float rest[16];
      for (int j = 0; j < 16; ++j) rest[j] = c + j < columns ? x[c + j] - t[c + j] : 0.0f;
      const float16 d = vload16(0, rest);
      lanes = fma(d, d, lanes);
      for (int j = 0; wanted && c + j < columns; ++j) dx[c + j] = rest[j] * by;
    }
    const float8 h8 = lanes.lo + lanes.hi;
    const float4 h4 = h8.lo + h8.hi;
    const float2 h2 = h4.lo + h4.hi;
    to[0] = (h2.x + h2.y) * mean;
    to[1] = 0.0f;
  }
}
