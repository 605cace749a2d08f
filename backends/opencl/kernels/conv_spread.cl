// conv_direct_grad.cl's sums where there are few channels, after it: no more than EACH, which is half or a quarter of a
// vector. A vector then has GROUPS lines of the window side by side: lanes j * EACH and on are the channels of line j
// of a band. For that, images are spread: element x of line y becomes a vector of the elements x of lines y, y + 1,
// ..., each EACH times. Every sum is the same chain as there.

#define GROUPS (VW / EACH)
#if VW == 16
#define LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
#define LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7)
#endif
typedef JOIN(float, EACH) part_t;

// `last` behind the upper parts of v.
static vec moved_up(vec v, vec last) {
#if GROUPS == 2 && VW == 16
  return (vec)(v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, last.s0, last.s1, last.s2, last.s3, last.s4, last.s5,
               last.s6, last.s7);
#elif VW == 16
  return (vec)(v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, last.s0, last.s1, last.s2,
               last.s3);
#else
  return (vec)(v.s4, v.s5, v.s6, v.s7, last.s0, last.s1, last.s2, last.s3);
#endif
}

// `count` lines. What lies behind the last of them, GROUPS - 1 lines more, is read as well.
static void spread_lines(__global const float* restrict from, int count, int line, __global float* restrict to) {
  for (int x = 0; x < line; ++x) {
    vec v = SPLAT(from[x]);
    UNROLL
    for (int j = 1; j < GROUPS; ++j) v = select(v, SPLAT(from[x + j * line]), LANES >= (ivec)(j * EACH));
    VSTORE(v, x, to);
  }
  for (int y = 1; y < count; ++y)
    for (int x = 0; x < line; ++x) {
      const int e = y * line + x;
      VSTORE(moved_up(VLOAD(e - line, to), SPLAT(from[e + (GROUPS - 1) * line])), e, to);
    }
}

// EACH floats, again and again.
static vec repeated(__global const float* from) {
  const part_t part = JOIN(vload, EACH)(0, from);
#if GROUPS == 2
  return (vec)(part, part);
#else
  return (vec)(part, part, part, part);
#endif
}

#define SPREAD_ZERO(i) vec s##i = SPLAT(0.0f);
#define SPREAD_STEP(i) s##i = fma(VLOAD(i, p), b0, s##i);
#define SPREAD_ADD(i) \
  if (i < live) VSTORE(first ? s##i : s##i + VLOAD(i, sums), i, sums);

// `terms` pixels from pixel k0 on, of images that lie spread in a ring of `ring` places, for `live` neighbours of the
// window: the vectors of the first pixel of an image lie from `at` on. `next` is 1, as in conv_direct.cl.
#define SPREAD_GRAD(name, FOR_ROWS)                                                                                    \
  static void name(__global const float* restrict spread, long image, int ring, long at, int line, int next,           \
                   __global const float* restrict dy, long dy_step, int channels, int out_w, int out_pixels, long k0,   \
                   int terms, int live, int first, __global float* sums) {                                             \
    FOR_ROWS(SPREAD_ZERO)                                                                                              \
    long n = k0 / out_pixels;                                                                                          \
    int y = (int)(k0 - n * out_pixels) / out_w, x = (int)(k0 - n * out_pixels) - y * out_w;                            \
    while (terms > 0) {                                                                                                \
      const int run = min(out_w - x, terms);                                                                           \
      __global const float* p = spread + n % ring * image + at + ((long)y * line + x) * VW;                            \
      __global const float* d = dy + n * dy_step + ((long)y * out_w + x) * channels;                                   \
      for (int k = 0; k < run; ++k, p += next * VW, d += channels) {                                                   \
        const vec b0 = repeated(d);                                                                                    \
        FOR_ROWS(SPREAD_STEP)                                                                                          \
      }                                                                                                                \
      terms -= run;                                                                                                    \
      x = 0;                                                                                                           \
      if (++y * out_w == out_pixels) {                                                                                 \
        y = 0;                                                                                                         \
        ++n;                                                                                                           \
      }                                                                                                                \
    }                                                                                                                  \
    FOR_ROWS(SPREAD_ADD)                                                                                               \
  }
SPREAD_GRAD(spread_grad_whole, FOR_MR)
SPREAD_GRAD(spread_grad_middle, FOR_MIDDLE)
SPREAD_GRAD(spread_grad_half, FOR_HALF)
SPREAD_GRAD(spread_grad_small, FOR_SMALL)

// The gradients of the weights, and of the bias where it is `wanted`, as in conv_direct_grad.cl: `padded` and dy are as
// there. One work-item does bands_each bands of GROUPS lines of the window; the first one sums the bias as well.
// Scratch: ring images of `image` floats, kernel_w vectors for each band and MR more, with image = (lines * line + MR)
// * VW and ring = KB / out_pixels + 2.
__kernel ONE_ITEM void conv2d_spread_grad(ITEM __global const float* restrict padded, int lines, int line, int kernel_h,
                                          int kernel_w, int out_w, int out_pixels, int channels,
                                          __global const float* restrict dy, long dy_step,
                                          __global float* restrict dweight, long dweight_offset, long dweight_step,
                                          __global float* restrict dbias, long dbias_offset, int wanted, long pixels,
                                          int bands_each, int ring, long image, __global float* restrict scratch,
                                          long scratch_each, int next) {
  const int first_band = (int)get_global_id(0) * bands_each,
            last_band = min(first_band + bands_each, (kernel_h + GROUPS - 1) / GROUPS);
  scratch += (long)get_global_id(0) * scratch_each;
  __global float* sums = scratch + ring * image;
  pixel_sums bias = {SPLAT(0.0f), SPLAT(0.0f), SPLAT(0.0f), SPLAT(0.0f)};
  long spread = 0;  // images
  for (long k0 = 0; k0 < pixels; k0 += KB) {
    const int terms = (int)min((long)KB, pixels - k0);
    for (; spread <= (k0 + terms - 1) / out_pixels; ++spread)
      spread_lines(padded + spread * lines * line, lines, line, scratch + spread % ring * image);
    if (wanted && first_band == 0) add_pixels(dy + k0 * channels, channels, k0, terms, &bias);
    for (int band = first_band; band < last_band; ++band)
      for (int x = 0; x < kernel_w; x += MR) {
        const int live = min(MR, kernel_w - x);
#define PIXELS_OF_BAND                                                                                                   \
  scratch, image, ring, ((long)band * GROUPS * line + x) * VW, line, next, dy, dy_step, channels, out_w, out_pixels, k0, \
      terms, live, k0 == 0, sums + ((band - first_band) * kernel_w + x) * VW
        if (live <= SMALL)
          spread_grad_small(PIXELS_OF_BAND);
        else if (live <= HALF)
          spread_grad_half(PIXELS_OF_BAND);
        else if (live <= MIDDLE)
          spread_grad_middle(PIXELS_OF_BAND);
        else
          spread_grad_whole(PIXELS_OF_BAND);
      }
  }
  for (int band = first_band; band < last_band; ++band)
    for (int x = 0; x < kernel_w; ++x)
      for (int j = 0; j < GROUPS && band * GROUPS + j < kernel_h; ++j)
        for (int c = 0; c < channels; ++c)
          dweight[dweight_offset + ((band * GROUPS + j) * kernel_w + x) * dweight_step + c] =
              sums[((band - first_band) * kernel_w + x) * VW + j * EACH + c];
  if (!wanted || first_band != 0) return;
  float all[VW];
  VSTORE(bias.all0 + bias.sum0, 0, all);
  for (int c = 0; c < channels; ++c) dbias[dbias_offset + c] = all[c];
}
