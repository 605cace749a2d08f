// Computes the sums of direct_grad.cl for few channels: at most EACH, which is half or a quarter of a vector. A vector
// then holds GROUPS lines of the window side by side (a band); lanes from c * GROUPS on are channel c of these lines.
// The kernel reads the corresponding values of the image (element x of lines y, y + 1, ...) as GROUPS floats, EACH
// times. For this purpose, it interleaves the lines in the first-level cache. If one line of the window is left over, a
// vector holds GROUPS neighbours of that line instead, and the kernel multiplies it by dy together with the band above.
// Every sum is the same chain as in direct_grad.cl.
#include "conv/direct_grad.cl"
#include "conv/flat.cl"

#define GROUPS (VW / EACH)

// FOR_LEFT and FOR_LEFT_SMALL have the vectors of a left-over line of at most LEFT or SMALL pixels.
#define NONE_LEFT(X)
#if VW == 16
#define LEFT HALF
#define FOR_BAND FOR_HALF
#else
#define LEFT MR
#define FOR_BAND FOR_MR
#endif
#if GROUPS == 4
#define FOR_LEFT FOR_2
#define FOR_LEFT_SMALL FOR_2
#elif VW == 16
#define FOR_LEFT FOR_4
#define FOR_LEFT_SMALL(X) FOR_2(X) X(2)
#else
#define FOR_LEFT(X) FOR_2(X) X(2)
#define FOR_LEFT_SMALL FOR_1
#endif

// Loads n floats from any address with one instruction (see vector.cl).
#ifdef WHOLE_VECTORS
#define LOAD_FLOATS(n, from) (*(__global const float##n##_anywhere*)(from))
typedef __attribute__((aligned(4))) float2 float2_anywhere;
typedef __attribute__((aligned(4))) float4 float4_anywhere;
typedef __attribute__((aligned(4))) float8 float8_anywhere;
#else
#define LOAD_FLOATS(n, from) vload##n(0, from)
#endif

// Interleaves GROUPS lines: element e of `from` goes to to[e * GROUPS], followed by element e of the next lines. Also
// reads GROUPS - 1 lines and a vector past `count` elements, and writes a vector past the end.
static void put_lines_abreast(__global const float* from, int count, int line, __global float* to) {
  for (int e = 0; e < count; e += VW) {
    const vec a = VLOAD(0, from + e), b = VLOAD(0, from + e + line);
#if GROUPS == 4
    store_windows(a, b, VLOAD(0, from + e + 2 * line), VLOAD(0, from + e + 3 * line), to + e * GROUPS, GROUPS);
#elif VW == 16
    VSTORE(((vec)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)), 0,
           to + e * GROUPS);
    VSTORE(((vec)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)), 1,
           to + e * GROUPS);
#else
    VSTORE(((vec)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3)), 0, to + e * GROUPS);
    VSTORE(((vec)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)), 1, to + e * GROUPS);
#endif
  }
}

// Repeats the elements of GROUPS lines for each channel.
static vec for_each_channel(__global const float* from) {
#if GROUPS == 4
  const float4 part = LOAD_FLOATS(4, from);
  return (vec)(part, part, part, part);
#elif VW == 16
  const float2 part = LOAD_FLOATS(2, from);
  return (vec)(part, part, part, part, part, part, part, part);
#else
  const float2 part = LOAD_FLOATS(2, from);
  return (vec)(part, part, part, part);
#endif
}

// Repeats the channels of a pixel for each of GROUPS lines.
static vec for_each_line(__global const float* from) {
#if EACH == 8
  const float8 d = LOAD_FLOATS(8, from);
  return (vec)(d.s0, d.s0, d.s1, d.s1, d.s2, d.s2, d.s3, d.s3, d.s4, d.s4, d.s5, d.s5, d.s6, d.s6, d.s7, d.s7);
#else
  const float4 d = LOAD_FLOATS(4, from);
#if GROUPS == 4
  return (vec)(d.s0, d.s0, d.s0, d.s0, d.s1, d.s1, d.s1, d.s1, d.s2, d.s2, d.s2, d.s2, d.s3, d.s3, d.s3, d.s3);
#else
  return (vec)(d.s0, d.s0, d.s1, d.s1, d.s2, d.s2, d.s3, d.s3);
#endif
#endif
}

#define SPREAD_BEGIN(i) vec s##i = first || i >= live ? SPLAT(0.0f) : VLOAD(i, sums);
#define SPREAD_STEP(i) s##i = fma(for_each_channel(at + i * GROUPS), b, s##i);
#define SPREAD_SAVE(i) \
  if (i < live) VSTORE(s##i, i, sums);
#define LEFT_BEGIN(i) vec left##i = first || i * GROUPS >= live ? SPLAT(0.0f) : VLOAD(live + i, sums);
#define LEFT_STEP(i) left##i = fma(for_each_channel(in_left + i * GROUPS), b, left##i);
#define LEFT_SAVE(i) \
  if (i * GROUPS < live) VSTORE(left##i, live + i, sums);
#define SPREAD_PIXEL(k, FOR_ROWS, FOR_LEFT)                         \
  {                                                                 \
    __global const float *at = p + k * GROUPS, *in_left = q + k;     \
    const vec b = for_each_line(d + k * channels);                  \
    sum += b;                                                       \
    FOR_ROWS(SPREAD_STEP)                                           \
    FOR_LEFT(LEFT_STEP)                                             \
  }

// Continues the sums of `live` neighbours of the window with `terms` pixels, starting with pixel k0, or begins them if
// they are the `first`. Images are image_floats apart in a
// ring of `ring` images. For the first pixel of an image, the neighbours' values start at `band`, interleaved, and at
// `left` for the left-over line. Also adds the pixels to `all`. With FOUR, which needs enough registers, four pixels at
// a time share the values that they load. `pixel_step` is 1 (see direct_args.h).
#define SPREAD_GRAD(name, FOR_ROWS, FOR_LEFT, FOUR)                                                                    \
  static void name(__global const float* restrict images, long image_floats, int ring, long band, long left, int line, \
                   int pixel_step, __global const float* restrict dy, long dy_step, int channels, int out_w,           \
                   int out_pixels, long k0, int terms, int live, int first, __global float* sums, vec* all) {          \
    FOR_ROWS(SPREAD_BEGIN)                                                                                             \
    FOR_LEFT(LEFT_BEGIN)                                                                                               \
    vec sum = *all;                                                                                                    \
    long n = k0 / out_pixels;                                                                                          \
    int y = (int)(k0 - n * out_pixels) / out_w, x = (int)(k0 - n * out_pixels) - y * out_w;                            \
    while (terms > 0) {                                                                                                \
      const int run = min(out_w - x, terms);                                                                           \
      const long pixel = (long)y * line + x;                                                                           \
      __global const float* p = images + n % ring * image_floats + band + pixel * GROUPS;                              \
      __global const float* q = images + n % ring * image_floats + left + pixel;                                       \
      __global const float* d = dy + n * dy_step + ((long)y * out_w + x) * channels;                                   \
      int k = 0;                                                                                                       \
      for (; FOUR && k + 4 <= run; k += 4, p += 4 * GROUPS, q += 4, d += 4 * channels) {                               \
        SPREAD_PIXEL(0, FOR_ROWS, FOR_LEFT)                                                                            \
        SPREAD_PIXEL(1, FOR_ROWS, FOR_LEFT)                                                                            \
        SPREAD_PIXEL(2, FOR_ROWS, FOR_LEFT)                                                                            \
        SPREAD_PIXEL(3, FOR_ROWS, FOR_LEFT)                                                                            \
      }                                                                                                                \
      for (; k < run; ++k, p += pixel_step * GROUPS, q += pixel_step, d += channels)                                   \
        SPREAD_PIXEL(0, FOR_ROWS, FOR_LEFT)                                                                            \
      terms -= run;                                                                                                    \
      x = 0;                                                                                                           \
      if (++y * out_w == out_pixels) {                                                                                 \
        y = 0;                                                                                                         \
        ++n;                                                                                                           \
      }                                                                                                                \
    }                                                                                                                  \
    FOR_ROWS(SPREAD_SAVE)                                                                                              \
    FOR_LEFT(LEFT_SAVE)                                                                                                \
    *all = sum;                                                                                                        \
  }
SPREAD_GRAD(spread_grad_whole, FOR_MR, NONE_LEFT, 0)
SPREAD_GRAD(spread_grad_middle, FOR_MIDDLE, NONE_LEFT, 0)
SPREAD_GRAD(spread_grad_half, FOR_HALF, NONE_LEFT, 1)
SPREAD_GRAD(spread_grad_small, FOR_SMALL, NONE_LEFT, 1)
SPREAD_GRAD(spread_grad_left, FOR_BAND, FOR_LEFT, VW == 16)
SPREAD_GRAD(spread_grad_left_small, FOR_SMALL, FOR_LEFT_SMALL, 1)

// Computes the gradients of the weights and, if `wanted` is 1, of the bias, as in direct_grad.cl. EACH floats of dy
// must be readable for each pixel. One work-item processes bands_each bands of GROUPS lines of the window; the first
// work-item also sums the bias. Its scratch holds a ring of KB / out_pixels + 2 images of image_floats each, then
// kernel_w vectors for each band: the sums of a piece, and then those of all pieces so far. An image has padded_floats (the image with its padding, GROUPS - 1 lines and a
// vector), and (its pixels + the larger of MR and VW) * GROUPS floats for its interleaved lines.
__kernel ONE_ITEM void conv2d_spread_grad(ITEM const ConvSpreadArgs args, __global const float* images,
                                          __global const float* restrict dy, __global float* restrict dweight,
                                          __global float* restrict dbias, __global float* restrict scratch) {
  const WindowSides sides = args.sides;
  const int first_band = (int)get_global_id(0) * args.bands_each,
            last_band = min(first_band + args.bands_each, (sides.kernel_h + GROUPS - 1) / GROUPS);
  const int lines = sides.height + 2 * sides.pad_h, line = sides.width + 2 * sides.pad_w;
  scratch += (long)get_global_id(0) * args.scratch_each;
  __global float* sums = scratch + args.ring * args.image_floats;
  // `with_left` is the band that is processed together with the left-over line, or -1.
  const int with_left = sides.kernel_h % GROUPS == 1 && last_band * GROUPS > sides.kernel_h &&
                                last_band - first_band >= 2 && sides.kernel_w <= LEFT
                            ? last_band - 2
                            : -1;
  vec bias = SPLAT(0.0f), some = SPLAT(0.0f), ignored = SPLAT(0.0f);
  __global float* all = sums + (last_band - first_band) * sides.kernel_w * VW;
  long ready = 0;  // number of images prepared so far
  int terms;
  for (long k0 = 0, begin_piece = 0; k0 < args.pixels; k0 += terms) {
    const long end_piece = min(begin_piece + args.pixels_each, args.pixels);
    terms = (int)min(KB - k0 % KB, end_piece - k0);
    for (; ready <= (k0 + terms - 1) / args.out_pixels; ++ready) {
      __global float* image = scratch + ready % args.ring * args.image_floats;
      padded_lines(images + args.images.offset + ready * args.images.step, sides.height, sides.width, sides.pad_w,
                   -sides.pad_h, lines, line, image);
      put_lines_abreast(image, lines * line, line, image + args.padded_floats);
    }
    for (int band = first_band; band < (with_left < 0 ? last_band : with_left + 1); ++band)
      for (int x = 0; x < sides.kernel_w; x += MR) {
        const int live = min(MR, sides.kernel_w - x);
#define PIXELS_OF_BAND                                                                                                 \
  scratch, args.image_floats, args.ring, args.padded_floats + ((long)band * GROUPS * line + x) * GROUPS,               \
      (sides.kernel_h - 1) * (long)line, line, args.pixel_step, dy + args.dy.offset, args.dy.step, sides.out_channels, \
      sides.out_w, args.out_pixels, k0, terms, live, k0 == begin_piece, sums + ((band - first_band) * sides.kernel_w + x) * VW,  \
      band == 0 && x == 0 ? &some : &ignored
        if (band == with_left && live <= SMALL)
          spread_grad_left_small(PIXELS_OF_BAND);
        else if (band == with_left)
          spread_grad_left(PIXELS_OF_BAND);
        else if (live <= SMALL)
          spread_grad_small(PIXELS_OF_BAND);
        else if (live <= HALF)
          spread_grad_half(PIXELS_OF_BAND);
        else if (live <= MIDDLE)
          spread_grad_middle(PIXELS_OF_BAND);
        else
          spread_grad_whole(PIXELS_OF_BAND);
      }
    if ((k0 + terms) % SUMMED == 0) {
      bias += some;
      some = SPLAT(0.0f);
    }
    if (k0 + terms < end_piece) continue;
    for (int v = 0; v < (last_band - first_band) * sides.kernel_w; ++v)
      VSTORE(begin_piece == 0 ? VLOAD(v, sums) : VLOAD(v, all) + VLOAD(v, sums), v, all);
    begin_piece = end_piece;
  }
  for (int band = first_band; band < last_band; ++band)
    for (int x = 0; x < sides.kernel_w; ++x)
      for (int j = 0; j < GROUPS && band * GROUPS + j < sides.kernel_h; ++j) {
        const int left = with_left >= 0 && band == last_band - 1;
        const int at = (band - first_band) * sides.kernel_w * VW + (left ? x / GROUPS * VW + x % GROUPS : x * VW + j);
        __global float* to =
            dweight + args.dweight.offset + ((band * GROUPS + j) * sides.kernel_w + x) * args.dweight.step;
        for (int c = 0; c < sides.out_channels; ++c)
          to[c] = args.fresh ? all[at + c * GROUPS] : to[c] + all[at + c * GROUPS];
      }
  if (!args.wanted || first_band != 0) return;
  float biases[VW];
  VSTORE(bias + some, 0, biases);
  for (int c = 0; c < sides.out_channels; ++c) dbias[args.dbias_offset + c] = biases[c * GROUPS];
}
