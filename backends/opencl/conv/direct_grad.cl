// Computes the gradient of the weights of direct.cl's convolutions: the product of the patches' transpose and dy,
// without building the patches. A register tile covers neighbours in one line of the window and two vectors of
// channels. The values that it multiplies by a pixel of dy are adjacent in the image. Every sum of a piece
// (ops::gradient_pieces) is one chain over its windows, and the pieces are added in order.
#include "conv/direct.cl"

// Copies consecutive images with their padding. One work-item copies one image.
__kernel ONE_ITEM void pad_images(ITEM const PadImagesArgs args, __global const float* images, __global float* padded) {
  const int line = args.width + 2 * args.pad_w, lines = args.height + 2 * args.pad_h;
  padded_lines(images + args.images.offset + (long)get_global_id(0) * args.images.step, args.height, args.width,
               args.pad_w, -args.pad_h, lines, line, padded + (long)get_global_id(0) * lines * line);
}

// Continues the sums of NR channels of MR neighbours with `terms` pixels, starting with pixel k0, or begins them if they
// are `fresh`. `a` and `b` point to the window's values and to dy for the first pixel
// of the first image. LOAD and STEP take one or two vectors of channels.
#define LOAD_TWO                                   \
  const vec b0 = VLOAD(0, d), b1 = VLOAD(1, d);    \
  FETCH(d + AHEAD * out_channels);                 \
  FETCH(d + AHEAD * out_channels + VW);            \
  FETCH(d + AHEAD * out_channels + NR - 1);
#define LOAD_ONE const vec b0 = VLOAD(0, d);
#define STRIP_BEGIN(i) \
  vec s##i##0 = fresh ? SPLAT(0.0f) : VLOAD(2 * i, sums), s##i##1 = fresh ? SPLAT(0.0f) : VLOAD(2 * i + 1, sums);
#define DIRECT_GRAD(name, FOR_ROWS, LOAD, STEP)                                                                 \
  static void name(__global const float* restrict a, long image, int line, int pixel_step,                      \
                   __global const float* restrict b, long dy_step, int out_channels, int out_w, int out_pixels, \
                   long k0, int terms, int fresh, __global float* sums) {                                       \
    FOR_ROWS(STRIP_BEGIN)                                                                                       \
    long n = k0 / out_pixels;                                                                                   \
    int y = (int)(k0 - n * out_pixels) / out_w, x = (int)(k0 - n * out_pixels) - y * out_w;                     \
    while (terms > 0) {                                                                                         \
      const int run = min(out_w - x, terms);                                                                    \
      __global const float* p = a + n * image + (long)y * line + x;                                             \
      __global const float* d = b + n * dy_step + ((long)y * out_w + x) * out_channels;                         \
      for (int i = 0; i < run; ++i, p += pixel_step, d += out_channels) {                                       \
        LOAD FOR_ROWS(STEP)                                                                                     \
      }                                                                                                         \
      terms -= run;                                                                                             \
      x = 0;                                                                                                    \
      if (++y * out_w == out_pixels) {                                                                          \
        y = 0;                                                                                                  \
        ++n;                                                                                                    \
      }                                                                                                         \
    }                                                                                                           \
    FOR_ROWS(STRIP_SAVE)                                                                                        \
  }
DIRECT_GRAD(direct_grad_whole, FOR_MR, LOAD_TWO, DIRECT_STEP)
DIRECT_GRAD(direct_grad_middle, FOR_MIDDLE, LOAD_TWO, DIRECT_STEP)
DIRECT_GRAD(direct_grad_small, FOR_SMALL, LOAD_TWO, DIRECT_STEP)
DIRECT_GRAD(narrow_grad_whole, FOR_MR, LOAD_ONE, DIRECT_STEP_NARROW)
DIRECT_GRAD(narrow_grad_middle, FOR_MIDDLE, LOAD_ONE, DIRECT_STEP_NARROW)
DIRECT_GRAD(narrow_grad_small, FOR_SMALL, LOAD_ONE, DIRECT_STEP_NARROW)

// Sums for the gradient of the bias run as in column_sums.cl: over SUMMED pixels at a time, then over these sums.
#define SUMMED 512

typedef struct {
  vec sum0, sum1, all0, all1;
} pixel_sums;

static void add_sums(pixel_sums* s) {
  s->all0 += s->sum0;
  s->all1 += s->sum1;
  s->sum0 = s->sum1 = SPLAT(0.0f);
}

// Adds `terms` more pixels after the first `done` pixels.
static void add_pixels(__global const float* restrict d, int out_channels, long done, int terms, pixel_sums* s) {
  for (int k = 0; k < terms; ++k, d += out_channels) {
    if ((done + k) % SUMMED == 0) add_sums(s);
    FETCH(d + AHEAD * out_channels);
    FETCH(d + AHEAD * out_channels + VW);
    FETCH(d + AHEAD * out_channels + NR - 1);
    s->sum0 += VLOAD(0, d);
    s->sum1 += VLOAD(1, d);
  }
}

// One work-item processes NR channels and lines_each lines of the window. The last channels start early, and the kernel
// drops their overlap with another work-item. With fewer than NR channels, it drops values that it reads past the end
// of dy. The work-item of the first lines also sums `dbias` if `wanted` is 1. The scratch of a work-item holds MR * NR
// floats for each line and each MR neighbours in it.
__kernel ONE_ITEM void conv2d_direct_grad(ITEM const ConvDirectGradArgs args, __global const float* restrict padded,
                                          __global const float* restrict dy, __global float* restrict dweight,
                                          __global float* restrict dbias, __global float* restrict scratch) {
  const int c = (int)get_global_id(0) * NR, begin = max(0, min(c, args.out_channels - NR)),
            columns = min(NR, args.out_channels - c);
  const int y0 = (int)get_global_id(1) * args.lines_each, y1 = min(y0 + args.lines_each, args.kernel_h);
  pixel_sums bias = {SPLAT(0.0f), SPLAT(0.0f), SPLAT(0.0f), SPLAT(0.0f)};
  scratch += ((long)get_global_id(0) * get_global_size(1) + get_global_id(1)) * args.scratch_each;
  int terms;
  for (long k0 = 0, begin_piece = 0; k0 < args.pixels; k0 += terms) {
    const long end_piece = min(begin_piece + args.pixels_each, args.pixels);
    terms = (int)min((long)KB, end_piece - k0);
    const int fresh = k0 == begin_piece, ends = k0 + terms == end_piece;
    __global float* sums = scratch;
    if (args.wanted && y0 == 0)
      add_pixels(dy + args.dy.offset + begin + k0 * args.out_channels, args.out_channels, k0, terms, &bias);
    for (int y = y0; y < y1; ++y)
      for (int x = 0; x < args.kernel_w; x += MR, sums += MR * NR) {
        const int live = min(MR, args.kernel_w - x);
#define PIXELS                                                                              \
  padded + (long)y *args.line + x, (long)args.lines *args.line, args.line, args.pixel_step, \
      dy + args.dy.offset + begin, args.dy.step, args.out_channels, args.out_w, args.out_pixels, k0, terms, fresh, \
      sums
        const int narrow = args.out_channels <= VW;
        if (live <= SMALL)
          narrow ? narrow_grad_small(PIXELS) : direct_grad_small(PIXELS);
        else if (live <= MIDDLE)
          narrow ? narrow_grad_middle(PIXELS) : direct_grad_middle(PIXELS);
        else
          narrow ? narrow_grad_whole(PIXELS) : direct_grad_whole(PIXELS);
        for (int i = 0; ends && i < live; ++i)
          strip_out(sums + i * NR + c - begin,
                    dweight + args.dweight.offset + (y * args.kernel_w + x + i) * args.dweight.step + c, columns, 1.0f,
                    begin_piece == 0 && args.fresh ? 0.0f : 1.0f);
      }
    if (ends) begin_piece = end_piece;
  }
  if (!args.wanted || y0 != 0) return;
  float sums[NR];
  VSTORE(bias.all0 + bias.sum0, 0, sums);
  VSTORE(bias.all1 + bias.sum1, 1, sums);
  for (int i = 0; i < columns; ++i) dbias[args.dbias_offset + c + i] = sums[c - begin + i];
}
