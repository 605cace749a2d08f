// Computes the convolutions of direct.cl with at most as many output channels as a vector has lanes. In direct.cl, a
// vector holds the channels of a window, and lanes without a channel are idle. Here, a vector holds neighbouring
// windows, and the kernel takes FLAT channels at a time. The lines of an image are consecutive, and windows are
// numbered through all lines. The kernel also computes windows that begin at the end of one line and end in the next,
// and drops their results. Every sum is the same chain as in direct.cl.
#include "conv/direct.cl"

#define FLAT 4
#if VW == 16
#define FLAT_VECTORS 4  // number of vectors computed at once
#define FOR_FLAT FOR_4
#else
#define FLAT_VECTORS 2
#define FOR_FLAT(X) X(0) X(1)
#endif

// Stores FLAT channels of every fourth window from v. The first window goes to `to`; windows are `apart` floats apart.
static void store_every_fourth(vec v, __global float* to, int apart) {
#if VW == 16
  vstore4(v.s0123, 0, to);
  vstore4(v.s4567, 0, to + 4 * apart);
  vstore4(v.s89ab, 0, to + 8 * apart);
  vstore4(v.scdef, 0, to + 12 * apart);
#elif VW == 8
  vstore4(v.s0123, 0, to);
  vstore4(v.s4567, 0, to + 4 * apart);
#else
  vstore4(v, 0, to);
#endif
}

// Stores a vector of windows for each of FLAT channels.
static void store_windows(vec a, vec b, vec c, vec d, __global float* to, int apart) {
  const vec low_ab = low_pairs(a, b), low_cd = low_pairs(c, d), high_ab = high_pairs(a, b), high_cd = high_pairs(c, d);
  const vec first = low_halves(low_ab, low_cd), second = high_halves(low_ab, low_cd);
  const vec third = low_halves(high_ab, high_cd), fourth = high_halves(high_ab, high_cd);
#if VW == 16
  if (apart == FLAT) {
    const vec even0 = even_quarters(first, second), even1 = even_quarters(third, fourth);
    const vec odd0 = odd_quarters(first, second), odd1 = odd_quarters(third, fourth);
    VSTORE(even_quarters(even0, even1), 0, to);
    VSTORE(even_quarters(odd0, odd1), 1, to);
    VSTORE(odd_quarters(even0, even1), 2, to);
    VSTORE(odd_quarters(odd0, odd1), 3, to);
    return;
  }
#endif
  store_every_fourth(first, to, apart);
  store_every_fourth(second, to + apart, apart);
  store_every_fourth(third, to + 2 * apart, apart);
  store_every_fourth(fourth, to + 3 * apart, apart);
}

#define FLAT_ZERO(v) vec s##v##0 = SPLAT(0.0f), s##v##1 = s##v##0, s##v##2 = s##v##0, s##v##3 = s##v##0;
#define FLAT_STEP(v)               \
  {                                \
    const vec a = VLOAD(v, p);     \
    s##v##0 = fma(a, w0, s##v##0); \
    s##v##1 = fma(a, w1, s##v##1); \
    s##v##2 = fma(a, w2, s##v##2); \
    s##v##3 = fma(a, w3, s##v##3); \
  }
#define FLAT_BIAS(v)                                  \
  if (biased) {                                       \
    s##v##0 += SPLAT(w[0]), s##v##1 += SPLAT(w[1]);   \
    s##v##2 += SPLAT(w[2]), s##v##3 += SPLAT(w[3]);   \
  }                                                   \
  ACTIVATE(s##v##0);                                  \
  ACTIVATE(s##v##1);                                  \
  ACTIVATE(s##v##2);                                  \
  ACTIVATE(s##v##3);
#define FLAT_STORE(v) store_windows(s##v##0, s##v##1, s##v##2, s##v##3, out + v * VW * apart, apart);

// Computes FOR_VECTORS vectors of windows, starting at `from`. w holds the weights of FLAT channels for each pixel of
// the window, `apart` floats apart, followed by the bias.
#define FLAT_WINDOWS(name, FOR_VECTORS)                                                                        \
  static void name(__global const float* from, int line, int kernel_h, int kernel_w, __global const float* w, \
                   int biased, int relu, __global float* out, int apart) {                                    \
    FOR_VECTORS(FLAT_ZERO)                                                                                     \
    for (int y = 0; y < kernel_h; ++y, from += line)                                                           \
      for (int x = 0; x < kernel_w; ++x, w += apart) {                                                         \
        __global const float* p = from + x;                                                                    \
        const vec w0 = SPLAT(w[0]), w1 = SPLAT(w[1]), w2 = SPLAT(w[2]), w3 = SPLAT(w[3]);                      \
        FOR_VECTORS(FLAT_STEP)                                                                                 \
      }                                                                                                        \
    FOR_VECTORS(FLAT_BIAS)                                                                                     \
    FOR_VECTORS(FLAT_STORE)                                                                                    \
  }
FLAT_WINDOWS(flat_some, FOR_FLAT)
FLAT_WINDOWS(flat_one, FOR_1)

// Copies `count` windows so that their channels are adjacent. Writes at most `left` floats. Arbitrary values may follow
// a window until the function writes the next window.
static void copy_windows(__global const float* from, int apart, int count, int channels, __global float* to, int left) {
  if (apart == channels) {
    copy_floats(from, count * channels, to);
    return;
  }
  for (int i = 0; i < count; ++i, from += apart, to += channels, left -= channels)
    if (left >= apart)
      for (int c = 0; c < apart; c += FLAT) vstore4(vload4(0, from + c), 0, to + c);
    else
      for (int c = 0; c < channels; ++c) to[c] = from[c];
}

// One work-item computes rows_each lines of windows of all images, lines_at_once lines of an image at a time. Its
// scratch holds (patch + 1 + most_windows) * apart floats and the lines. `apart` is out_channels rounded up to FLAT,
// and most_windows is the number of windows in lines_at_once lines, rounded up to FLAT_VECTORS vectors. There are
// lines_at_once + kernel_h - 1 lines, followed by an extra vector.
__kernel ONE_ITEM void conv2d_flat(ITEM const ConvDirectArgs args, __global const float* images,
                                   __global const float* weight, __global const float* bias, __global float* out,
                                   __global float* scratch) {
  const WindowSides sides = args.sides;
  const int line = sides.width + 2 * sides.pad_w, patch = sides.kernel_h * sides.kernel_w;
  const int apart = (sides.out_channels + FLAT - 1) / FLAT * FLAT;
  __global float* weights = scratch + (long)get_global_id(0) * args.scratch_each;
  __global float* windows = weights + (patch + 1) * apart;
  __global float* lines = windows + args.most_windows * apart;
  for (int e = 0; e <= patch; ++e)
    for (int c = 0; c < apart; ++c) {
      __global const float* from =
          e < patch ? weight + args.weight.offset + e * args.weight.step + c : bias + args.bias_offset + c;
      weights[e * apart + c] = c < sides.out_channels && (e < patch || args.biased) ? *from : 0.0f;
    }
  const long first = (long)get_global_id(0) * args.rows_each, end = min(first + args.rows_each, args.rows);
  int count;
  for (long row = first; row < end; row += count) {
    const long n = row / sides.out_h;
    const int y0 = (int)(row - n * sides.out_h);
    count = (int)min((long)min(sides.out_h - y0, args.lines_at_once), end - row);
    padded_lines(images + args.images.offset + n * args.images.step, sides.height, sides.width, sides.pad_w,
                 y0 - sides.pad_h, count + sides.kernel_h - 1, line, lines);
    VSTORE(SPLAT(0.0f), 0, lines + (count + sides.kernel_h - 1) * line);
    const int wanted = (count - 1) * line + sides.out_w;
    for (int c = 0; c < apart; c += FLAT) {
      int i = 0;
#define FLAT_FROM_I \
  lines + i, line, sides.kernel_h, sides.kernel_w, weights + c, args.biased, args.relu, windows + i *apart + c, apart
      for (; i + (FLAT_VECTORS - 1) * VW < wanted; i += FLAT_VECTORS * VW) flat_some(FLAT_FROM_I);
      for (; i < wanted; i += VW) flat_one(FLAT_FROM_I);
    }
    __global float* to = out + args.out.offset + n * args.out.step + (long)y0 * sides.out_w * sides.out_channels;
    for (int y = 0; y < count; ++y)
      copy_windows(windows + y * line * apart, apart, sides.out_w, sides.out_channels,
                   to + y * sides.out_w * sides.out_channels, (count - y) * sides.out_w * sides.out_channels);
  }
}
