// conv_direct.cl's convolutions where there are few channels, after conv_direct_grad.cl: no more than EACH, which is half or
// a quarter of a vector. A vector then has GROUPS lines of windows side by side: lanes j * EACH and on are the channels of
// line j of a band. For that, images are spread: element x of line y becomes a vector of the elements x of lines y, y + 1,
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
#elif GROUPS == 2
  return (vec)(v.s4, v.s5, v.s6, v.s7, last.s0, last.s1, last.s2, last.s3);
#else
  return (vec)(v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, last.s0, last.s1);
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

static part_t part_of(vec v, int j) {
#if GROUPS == 2
  return j == 0 ? v.lo : v.hi;
#else
  return j == 0 ? v.lo.lo : j == 1 ? v.lo.hi : j == 2 ? v.hi.lo : v.hi.hi;
#endif
}

// The first `channels` of each of `lines` lines, `apart` floats apart.
static void store_channels(vec v, __global float* out, long apart, int lines, int channels) {
  UNROLL
  for (int j = 0; j < GROUPS; ++j) {
    if (j >= lines) return;
    const part_t part = part_of(v, j);
    if (channels == EACH) {
      JOIN(vstore, EACH)(part, 0, out + j * apart);
    } else {
      float some[EACH];
      JOIN(vstore, EACH)(part, 0, some);
      for (int c = 0; c < channels; ++c) out[j * apart + c] = some[c];
    }
  }
}

#define SPREAD_ZERO(i) vec s##i = SPLAT(0.0f);
#define SPREAD_STEP(i) s##i = fma(VLOAD(i, p), b0, s##i);
#define SPREAD_FINISH(i) \
  s##i += bias;          \
  ACTIVATE(s##i);
#define SPREAD_SET(i) \
  if (i < live) store_channels(s##i, out + (long)i * channels, out_line, lines, channels);

// `live` neighbouring windows of a band of `lines` lines: `a` is spread, `b` a vector for each pixel of the window.
#define SPREAD(name, FOR_ROWS)                                                                                         \
  static void name(__global const float* restrict a, int line, int kernel_h, int kernel_w,                             \
                   __global const float* restrict b, vec bias, int relu, int live, int lines, __global float* out,     \
                   long out_line, int channels) {                                                                      \
    FOR_ROWS(SPREAD_ZERO)                                                                                              \
    for (int y = 0; y < kernel_h; ++y, a += line * VW) {                                                               \
      __global const float* p = a;                                                                                     \
      for (int x = 0; x < kernel_w; ++x, b += VW, p += VW) {                                                           \
        const vec b0 = VLOAD(0, b);                                                                                    \
        FOR_ROWS(SPREAD_STEP)                                                                                          \
      }                                                                                                                \
    }                                                                                                                  \
    FOR_ROWS(SPREAD_FINISH)                                                                                            \
    FOR_ROWS(SPREAD_SET)                                                                                               \
  }
SPREAD(spread_whole, FOR_MR)
SPREAD(spread_middle, FOR_MIDDLE)
SPREAD(spread_small, FOR_SMALL)

// One work-item does images_each images. Scratch: (patch + 1 + lines * line + MR) * VW + (lines + GROUPS) * line floats, with
// lines = height + 2 * pad_h + GROUPS - 1 and line = width + 2 * pad_w.
__kernel ONE_ITEM void conv2d_spread(ITEM int height, int width, int kernel_h, int kernel_w, int pad_h, int pad_w,
                                     int out_h, int out_w, int channels, __global const float* images,
                                     long images_offset, long images_step, __global const float* weight,
                                     long weight_offset, long weight_step, __global const float* bias,
                                     long bias_offset, int biased, int relu, __global float* out, long out_offset,
                                     long out_step, __global float* scratch, long scratch_each, long count,
                                     long images_each) {
  const int patch = kernel_h * kernel_w, line = width + 2 * pad_w, lines = height + 2 * pad_h + GROUPS - 1;
  __global float* weights = scratch + (long)get_global_id(0) * scratch_each;
  __global float* spread = weights + (patch + 1) * VW;
  __global float* plain = spread + (lines * line + MR) * VW;
  for (int e = 0; e <= patch; ++e)
    for (int i = 0; i < VW; ++i) {
      const int c = i % EACH;
      __global const float* from = e < patch ? weight + weight_offset + e * weight_step + c : bias + bias_offset + c;
      weights[e * VW + i] = c < channels && (e < patch || biased) ? *from : 0.0f;
    }
  // Adding 0 where there is no bias could turn -0 into 0.
  const vec added = biased ? VLOAD(patch, weights) : SPLAT(-0.0f);
  for (int i = 0; i < MR * VW; ++i) spread[lines * line * VW + i] = 0.0f;
  const long first = (long)get_global_id(0) * images_each, end = min(first + images_each, count);
  for (long n = first; n < end; ++n) {
    padded_lines(images + images_offset + n * images_step, height, width, pad_w, -pad_h, lines + GROUPS - 1, line, plain);
    spread_lines(plain, lines, line, spread);
    __global float* to = out + out_offset + n * out_step;
    for (int y = 0; y < out_h; y += GROUPS)
      for (int x = 0; x < out_w; x += MR) {
        const int live = min(MR, out_w - x);
#define BAND                                                                                                        \
  spread + (y * line + x) * VW, line, kernel_h, kernel_w, weights, added, relu, live, min(GROUPS, out_h - y),        \
      to + ((long)y * out_w + x) * channels, (long)out_w * channels, channels
        if (live <= SMALL)
          spread_small(BAND);
        else if (live <= MIDDLE)
          spread_middle(BAND);
        else
          spread_whole(BAND);
      }
  }
}

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

// The gradients of the weights, and of the bias where it is `wanted`, as in conv_direct_grad.cl: `padded` and dy are as there.
// One work-item does bands_each bands of GROUPS lines of the window; the first one sums the bias as well. Scratch: ring
// images of `image` floats, kernel_w vectors for each band and MR more, with
// image = (lines * line + MR) * VW and ring = KB / out_pixels + 2.
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
