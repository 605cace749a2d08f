// Computes ops between the matrix products of a network.
#include "common/runs.cl"
#include "elementwise/elementwise_args.h"

// Lets a NaN pass through.
#define RELU(x) ((x) < 0.0f ? 0.0f : (x))

// FOR_EACH_LINE iterates over rows that may be as short as a few vectors. BY_VECTORS advances c by whole vectors, and
// THE_REST advances it element by element.
#define BY_VECTORS for (; c + VW <= c1; c += VW)
#define THE_REST for (; c < c1; ++c)

// The kernel does not read `bias` if there is no bias. The step of `bias` is 0 if all rows share the bias.
__kernel void bias_act(ITEM const BiasActArgs args, __global const float* x, __global const float* bias,
                       __global float* out) {
  FOR_EACH_LINE {
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global const float* add = bias + args.bias.offset + r * args.bias.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    long c = c0;
    BY_VECTORS {
      const vec v = args.biased ? VLOAD(0, from + c) + VLOAD(0, add + c) : VLOAD(0, from + c);
      VSTORE(args.relu ? RELU(v) : v, 0, to + c);
    }
    THE_REST {
      const float v = args.biased ? from[c] + add[c] : from[c];
      to[c] = args.relu ? RELU(v) : v;
    }
  }
}

__kernel void act_grad(ITEM const ActGradArgs args, __global const float* grad, __global const float* y,
                       __global float* dx) {
  FOR_EACH_LINE {
    __global const float* from = grad + args.grad.offset + r * args.grad.step;
    __global const float* at = y + args.y.offset + r * args.y.step;
    __global float* to = dx + args.dx.offset + r * args.dx.step;
    long c = c0;
    BY_VECTORS {
      const vec g = VLOAD(0, from + c);
      VSTORE(args.relu ? (VLOAD(0, at + c) > 0.0f ? g : 0.0f) : g, 0, to + c);
    }
    THE_REST to[c] = !args.relu || at[c] > 0.0f ? from[c] : 0.0f;
  }
}

// The kernel does not read `shift` if there is no shift.
__kernel void affine_columns(ITEM const AffineColumnsArgs args, __global const float* x, __global const float* scale,
                             __global const float* shift, __global float* out) {
  scale += args.scale_offset;
  shift += args.shift_offset;
  FOR_EACH_LINE {
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    long c = c0;
    BY_VECTORS {
      const vec v = args.shifted ? VLOAD(0, from + c) - VLOAD(0, shift + c) : VLOAD(0, from + c);
      VSTORE(v * VLOAD(0, scale + c), 0, to + c);
    }
    THE_REST to[c] = (args.shifted ? from[c] - shift[c] : from[c]) * scale[c];
  }
}

#if VW == 1
typedef uint uvec;
#else
typedef JOIN(uint, VW) uvec;
#define AS_UVEC JOIN(as_uint, VW)
#if VW == 4
typedef ulong2 pairs;
#define AS_PAIRS as_ulong2
#define LANES (uvec)(0, 1, 2, 3)
#elif VW == 8
typedef ulong4 pairs;
#define AS_PAIRS as_ulong4
#define LANES (uvec)(0, 1, 2, 3, 4, 5, 6, 7)
#else
typedef ulong8 pairs;
#define AS_PAIRS as_ulong8
#define LANES (uvec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
#endif

// Computes both halves of the products of 32-bit words.
static void multiply(uvec a, uint b, __private uvec* high, __private uvec* low) {
#if VW == 1
  *high = mul_hi(a, b);
  *low = a * b;
#else
  // CPUs multiply every other word to 64 bits; compilers generate slower code for mul_hi.
  const pairs even = (AS_PAIRS(a) & 0xFFFFFFFFul) * (ulong)b, odd = (AS_PAIRS(a) >> 32) * (ulong)b;
  *high = AS_UVEC((even >> 32) | (odd & 0xFFFFFFFF00000000ul));
  *low = AS_UVEC((even & 0xFFFFFFFFul) | (odd << 32));
#endif
}

// Replaces the counters {w0, w1, w2, w3} by their words of Philox4x32-10 (sdk/philox.hpp) under one key.
static void philox(__private uvec* w0, __private uvec* w1, __private uvec* w2, __private uvec* w3, uint key0, uint key1) {
  uvec c0 = *w0, c1 = *w1, c2 = *w2, c3 = *w3;
  UNROLL for (int round = 0; round < 10; ++round) {
    uvec high0, low0, high1, low1;
    multiply(c0, 0xD2511F53u, &high0, &low0);
    multiply(c2, 0xCD9E8D57u, &high1, &low1);
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
// Interleave a0 b0 a1 b1 ... for the first or the second half of a and b.
static uvec zip_low(uvec a, uvec b) {
  uvec z;
  z.even = a.lo;
  z.odd = b.lo;
  return z;
}

static uvec zip_high(uvec a, uvec b) {
  uvec z;
  z.even = a.hi;
  z.odd = b.hi;
  return z;
}

// Holds the words of VW counters, counter by counter.
typedef struct {
  uvec part[4];
} words_t;

static words_t words_of(uvec row, uvec quad, uint step, uint layer, uint key0, uint key1) {
  uvec w0 = row, w1 = quad, w2 = (uvec)(step), w3 = (uvec)(layer);
  philox(&w0, &w1, &w2, &w3, key0, key1);
  const uvec a = zip_low(w0, w2), b = zip_low(w1, w3), c = zip_high(w0, w2), d = zip_high(w1, w3);
  words_t words;
  words.part[0] = zip_low(a, b);
  words.part[1] = zip_high(a, b);
  words.part[2] = zip_low(c, d);
  words.part[3] = zip_high(c, d);
  return words;
}
#endif

// Requires that columns_each is a multiple of 4, or all columns.
__kernel void dropout(ITEM const DropoutArgs args, __global const float* x, __global float* out) {
  const long r0 = (long)get_global_id(1) * args.grid.rows_each, r1 = min(r0 + args.grid.rows_each, args.grid.rows);
  const long c0 = (long)get_global_id(0) * args.grid.columns_each;
  const long c1 = min(c0 + args.grid.columns_each, args.grid.columns);
  x += args.x.offset;
  out += args.out.offset;
#if VW == 1
  for (long r = r0; r < r1; ++r)
    for (long c = c0; c < c1; c += 4) {
      uint word[4] = {args.first_row + (uint)r, (uint)(c / 4), args.step, args.layer};
      philox(&word[0], &word[1], &word[2], &word[3], args.key0, args.key1);
      const int n = (int)min(4L, c1 - c);
      for (int i = 0; i < n; ++i)
        out[r * args.out.step + c + i] = word[i] >= args.threshold ? x[r * args.x.step + c + i] * args.scale : 0.0f;
    }
#else
  long r = r0, c = c0;
  while (r < r1 && c < c1) {
    if (c + 4 * VW <= c1) {
      const words_t words = words_of((uvec)(args.first_row + (uint)r), (uvec)((uint)(c / 4)) + LANES, args.step,
                                     args.layer, args.key0, args.key1);
      for (int i = 0; i < 4; ++i) {
        const vec v = VLOAD(i, x + r * args.x.step + c) * args.scale;
        VSTORE(words.part[i] >= args.threshold ? v : 0.0f, i, out + r * args.out.step + c);
      }
      c += 4 * VW;
      if (c == c1) {
        c = c0;
        ++r;
      }
      continue;
    }
    // The lanes continue in the next rows.
    uint row[VW], quad[VW], word[4 * VW];
    const long first_r = r, first_c = c;
    int live = 0;
    for (int i = 0; i < VW; ++i) {
      row[i] = args.first_row + (uint)r;
      quad[i] = (uint)(c / 4);
      if (r == r1) continue;
      ++live;
      c += 4;
      if (c >= c1) {
        c = c0;
        ++r;
      }
    }
    const words_t words = words_of(VLOAD(0, row), VLOAD(0, quad), args.step, args.layer, args.key0, args.key1);
    for (int i = 0; i < 4; ++i) VSTORE(words.part[i], i, word);
    long to_r = first_r, to_c = first_c;
    for (int i = 0; i < live; ++i) {
      __global const float* from = x + to_r * args.x.step + to_c;
      __global float* to = out + to_r * args.out.step + to_c;
      if (to_c + 4 <= c1) {
        const float4 v = vload4(0, from) * args.scale;
        vstore4(vload4(i, word) >= args.threshold ? v : 0.0f, 0, to);
      } else {
        for (int j = 0; j < (int)(c1 - to_c); ++j)
          to[j] = word[4 * i + j] >= args.threshold ? from[j] * args.scale : 0.0f;
      }
      to_c += 4;
      if (to_c >= c1) {
        to_c = c0;
        ++to_r;
      }
    }
  }
#endif
}
