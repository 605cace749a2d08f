// Computes the gradient of a convolution's weights on CPUs, for windows of any size and stride, without building
// patches. In one line of the window, the elements that a pixel of dy multiplies are adjacent in the image. A register
// tile covers some of them and one or two vectors of output channels, and runs over a band of rows of windows.
//
// Sums run over the pixels of a band, then the bands of a part, then the parts. Bands and parts depend only on the
// shape.
#include "conv/tiles.cl"
#include "conv/lines_grad_args.h"

#define ONE_ZERO(i) vec s##i = SPLAT(0.0f);
#define ONE_STEP(i) s##i = fma(SPLAT(p[i]), b, s##i);
#define ONE_SET(i) \
  if (i < live) VSTORE(VLOAD(0, to + i * step) + s##i, 0, to + i * step);
#define TWO_ZERO(i) vec s##i##0 = SPLAT(0.0f), s##i##1 = SPLAT(0.0f);
#define TWO_STEP(i)                       \
  {                                       \
    const vec a = SPLAT(p[i]);            \
    s##i##0 = fma(a, b, s##i##0);         \
    s##i##1 = fma(a, b_next, s##i##1);    \
  }
#define TWO_SET(i)                                                                       \
  if (i < live) {                                                                        \
    VSTORE(VLOAD(0, to + i * step) + s##i##0, 0, to + i * step);                         \
    VSTORE(VLOAD(0, to + i * step + VW) + s##i##1, 0, to + i * step + VW);               \
  }

// Adds the sums of `live` elements, at most as many as FOR_ROWS has rows, starting at `x`. Windows are x_step apart
// within a row, and rows are x_row apart. The pixels of dy are contiguous, and the rows of dy are d_row apart. `next`
// is the distance to the second vector of dy.
#define TILE(name, FOR_ROWS, ZERO, STEP, SET)                                                                        \
  static void name(__global const float* restrict x, long x_step, long x_row, __global const float* restrict dy,     \
                   int channels, long d_row, int next, int rows, int columns, int live, __global float* restrict to, \
                   int step) {                                                                                       \
    FOR_ROWS(ZERO)                                                                                                   \
    for (int r = 0; r < rows; ++r) {                                                                                 \
      __global const float* p = x + r * x_row;                                                                       \
      __global const float* d = dy + r * d_row;                                                                      \
      for (int c = 0; c < columns; ++c, p += x_step, d += channels) {                                                \
        const vec b = VLOAD(0, d), b_next = VLOAD(0, d + next);                                                      \
        FOR_ROWS(STEP)                                                                                               \
      }                                                                                                              \
    }                                                                                                                \
    FOR_ROWS(SET)                                                                                                    \
  }
#include "conv/tile_sizes.cl"

// Requires VW <= out_channels. The last vector starts early. `part` has part_each floats for each work-item: the
// consecutive vectors of output channels for each element of the patch. The scratch of a work-item holds the lines of a
// band with their padding, and 12 more floats.
__kernel ONE_ITEM void conv2d_lines_grad(ITEM const LinesGradArgs args, __global const float* images,
                                         __global const float* dy, __global float* part, __global float* scratch) {
  const WindowSides s = args.sides;
  const int line = (s.width + 2 * s.pad_w) * s.channels, taps = s.kernel_w * s.channels,
            vectors = (s.out_channels + VW - 1) / VW, step = vectors * VW;
  const long first = (long)get_global_id(0) * args.bands_each, last = min(first + args.bands_each, args.bands);
  part += (long)get_global_id(0) * args.part_each;
  scratch += (long)get_global_id(0) * args.scratch_each;
  zero_line(s.kernel_h * taps * step, part);
  for (long band = first; band < last; ++band) {
    const long n = band / args.bands_per_image;
    const int begin = (int)(band % args.bands_per_image) * args.rows_each, rows = min(args.rows_each, s.out_h - begin);
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global const float* grads = dy + args.dy.offset + n * args.dy.step + (long)begin * s.out_w * s.out_channels;
    padded_band(image, s.height, s.width * s.channels, s.pad_w * s.channels, line, begin * s.stride_h - s.pad_h,
                (rows - 1) * s.stride_h + s.kernel_h, scratch);
    for (int v = 0; v < vectors; v += 2) {
      const int two = v + 1 < vectors, c = min(v * VW, s.out_channels - VW),
                next = two ? min((v + 1) * VW, s.out_channels - VW) - c : 0;
      for (int h = 0; h < s.kernel_h; ++h)
        for (int j = 0, size; j < taps; j += size) {
          size = tile_rows(two, taps - j);
          const int live = min(size, taps - j);
#define TILE_ARGUMENTS                                                                                            \
  (scratch + (long)h * line + j, (long)s.stride_w * s.channels, (long)s.stride_h * line, grads + c, s.out_channels, \
   (long)s.out_w * s.out_channels, next, rows, s.out_w, live, part + ((long)h * taps + j) * step + v * VW, step)
          RUN_TILE(two, size, TILE_ARGUMENTS)
        }
    }
  }
}

// Adds up the parts in order. A work-item processes one element of the patch.
__kernel ONE_ITEM void lines_sum(ITEM const LinesSumArgs args, __global const float* part, __global float* dweight) {
  const long row = (long)get_global_id(0);
  const int vectors = (args.columns + VW - 1) / VW;
  __global float* to = dweight + args.dweight.offset + row * args.dweight.step;
  part += row * vectors * VW;
  for (int v = 0; v < vectors; ++v) {
    vec sum = VLOAD(v, part);
    for (long p = 1; p < args.parts; ++p) sum += VLOAD(v, part + p * args.part_each);
    VSTORE(sum, 0, to + min(v * VW, args.columns - VW));
  }
}
