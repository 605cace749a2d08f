// Ops between the products of a network, after runs.cl.

// A NaN stays.
#define RELU(x) ((x) < 0.0f ? 0.0f : (x))

// Without a bias, bias is not read.
__kernel void bias_act(long rows, long columns, long rows_each, long columns_each, __global const float* x,
                       long x_offset, long x_step, __global const float* bias, long bias_offset, int biased,
                       __global float* out, long out_offset, long out_step, int relu) {
  FOR_EACH_RUN {
    __global const float* from = x + x_offset + r * x_step;
    __global const float* add = bias + bias_offset;
    __global float* to = out + out_offset + r * out_step;
    const int n = RUN;
    if (n == VW) {
      vec v = VLOAD(0, from + c);
      if (biased) v += VLOAD(0, add + c);
      VSTORE(relu ? RELU(v) : v, 0, to + c);
      continue;
    }
    for (long i = c; i < c + n; ++i) {
      const float v = biased ? from[i] + add[i] : from[i];
      to[i] = relu ? RELU(v) : v;
    }
  }
}

__kernel void act_grad(long rows, long columns, long rows_each, long columns_each, __global const float* grad,
                       long grad_offset, long grad_step, __global const float* y, long y_offset, long y_step,
                       __global float* dx, long dx_offset, long dx_step, int relu) {
  FOR_EACH_RUN {
    __global const float* from = grad + grad_offset + r * grad_step;
    __global const float* at = y + y_offset + r * y_step;
    __global float* to = dx + dx_offset + r * dx_step;
    const int n = RUN;
    if (n == VW) {
      const vec g = VLOAD(0, from + c);
      VSTORE(relu ? (VLOAD(0, at + c) > 0.0f ? g : 0.0f) : g, 0, to + c);
      continue;
    }
    for (long i = c; i < c + n; ++i) to[i] = !relu || at[i] > 0.0f ? from[i] : 0.0f;
  }
}

// Without a shift, shift is not read.
__kernel void affine_columns(long rows, long columns, long rows_each, long columns_each, __global const float* x,
                             long x_offset, long x_step, __global const float* scale, long scale_offset,
                             __global const float* shift, long shift_offset, int shifted, __global float* out,
                             long out_offset, long out_step) {
  FOR_EACH_RUN {
    __global const float* from = x + x_offset + r * x_step;
    __global const float* less = shift + shift_offset;
    __global const float* by = scale + scale_offset;
    __global float* to = out + out_offset + r * out_step;
    const int n = RUN;
    if (n == VW) {
      vec v = VLOAD(0, from + c);
      if (shifted) v -= VLOAD(0, less + c);
      VSTORE(v * VLOAD(0, by + c), 0, to + c);
      continue;
    }
    for (long i = c; i < c + n; ++i) to[i] = (shifted ? from[i] - less[i] : from[i]) * by[i];
  }
}

// ---- dropout -------------------------------------------------------------------------------------------------------

#if VW == 1
typedef uint uvec;
#else
typedef JOIN(uint, VW) uvec;
#if VW == 4
#define LANES (uvec)(0, 1, 2, 3)
#elif VW == 8
#define LANES (uvec)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LANES (uvec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
#endif

// Philox4x32-10, see sdk/philox.hpp: words of the counters {c0, c1, c2, c3} under one key.
void philox(uvec* w0, uvec* w1, uvec* w2, uvec* w3, uint key0, uint key1) {
  uvec c0 = *w0, c1 = *w1, c2 = *w2, c3 = *w3;
  UNROLL for (int round = 0; round < 10; ++round) {
    const uvec high0 = mul_hi((uvec)(0xD2511F53u), c0), low0 = (uvec)(0xD2511F53u) * c0;
    const uvec high1 = mul_hi((uvec)(0xCD9E8D57u), c2), low1 = (uvec)(0xCD9E8D57u) * c2;
    c0 = high1 ^ c1 ^ (uvec)(key0);
    c1 = low1;
    c2 = high0 ^ c3 ^ (uvec)(key1);
    c3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  *w0 = c0;
  *w1 = c1;
  *w2 = c2;
  *w3 = c3;
}

#if VW > 1
// a0 b0 a1 b1 ... of the first and of the second half.
uvec zip_low(uvec a, uvec b) {
  uvec z;
  z.even = a.lo;
  z.odd = b.lo;
  return z;
}

uvec zip_high(uvec a, uvec b) {
  uvec z;
  z.even = a.hi;
  z.odd = b.hi;
  return z;
}

void drop(uvec word, __global const float* from, __global float* to, uint threshold, float scale) {
  const vec v = VLOAD(0, from) * scale;
  VSTORE(word >= threshold ? v : 0.0f, 0, to);
}
#endif

// columns_each is a multiple of 4, or all columns. A run is VW counters: 4 * VW columns.
__kernel void dropout(long rows, long columns, long rows_each, long columns_each, __global const float* x,
                      long x_offset, long x_step, __global float* out, long out_offset, long out_step, uint threshold,
                      float scale, uint key0, uint key1, uint layer, uint step, uint first_row) {
  const long r0 = (long)get_global_id(1) * rows_each, c0 = (long)get_global_id(0) * columns_each;
  const long r1 = min(r0 + rows_each, rows), c1 = min(c0 + columns_each, columns);
  for (long r = r0; r < r1; ++r) {
    __global const float* from = x + x_offset + r * x_step;
    __global float* to = out + out_offset + r * out_step;
    for (long c = c0; c < c1; c += 4 * VW) {
      uvec w0 = (uvec)(first_row + (uint)r), w1 = (uvec)((uint)(c / 4)), w2 = (uvec)(step), w3 = (uvec)(layer);
      const int n = (int)min(4L * VW, c1 - c);
#if VW == 1
      philox(&w0, &w1, &w2, &w3, key0, key1);
      to[c] = w0 >= threshold ? from[c] * scale : 0.0f;
      if (n > 1) to[c + 1] = w1 >= threshold ? from[c + 1] * scale : 0.0f;
      if (n > 2) to[c + 2] = w2 >= threshold ? from[c + 2] * scale : 0.0f;
      if (n > 3) to[c + 3] = w3 >= threshold ? from[c + 3] * scale : 0.0f;
#else
      w1 += LANES;
      philox(&w0, &w1, &w2, &w3, key0, key1);
      const uvec a = zip_low(w0, w2), b = zip_low(w1, w3), d = zip_high(w0, w2), e = zip_high(w1, w3);
      if (n == 4 * VW) {
        drop(zip_low(a, b), from + c, to + c, threshold, scale);
        drop(zip_high(a, b), from + c + VW, to + c + VW, threshold, scale);
        drop(zip_low(d, e), from + c + 2 * VW, to + c + 2 * VW, threshold, scale);
        drop(zip_high(d, e), from + c + 3 * VW, to + c + 3 * VW, threshold, scale);
        continue;
      }
      uint words[4 * VW];
      VSTORE(zip_low(a, b), 0, words);
      VSTORE(zip_high(a, b), 1, words);
      VSTORE(zip_low(d, e), 2, words);
      VSTORE(zip_high(d, e), 3, words);
      for (int i = 0; i < n; ++i) to[c + i] = words[i] >= threshold ? from[c + i] * scale : 0.0f;
#endif
    }
  }
}
