// Computes convolutions on CPUs for windows of any size and stride, without building patches. A register tile covers
// neighbouring windows of a row and one or two vectors of output channels. In one line of the window, the elements of
// the patch are adjacent in the image. Every output is one chain of fma() in the order of the patch, whatever the tile.
#include "conv/tiles.cl"
#include "conv/lines_args.h"

// This form lets a NaN pass through.
#define FINISHED(v, bias) (relu ? ((v) + (bias) < 0.0f ? SPLAT(0.0f) : (v) + (bias)) : (v) + (bias))

#define ONE_ZERO(i) vec s##i = SPLAT(0.0f);
#define ONE_STEP(i) s##i = fma(SPLAT(p[i * x_step]), b, s##i);
#define ONE_SET(i) \
  if (i < live) VSTORE(FINISHED(s##i, bias0), 0, out + i * step);
#define TWO_ZERO(i) vec s##i##0 = SPLAT(0.0f), s##i##1 = SPLAT(0.0f);
#define TWO_STEP(i)                    \
  {                                    \
    const vec a = SPLAT(p[i * x_step]);      \
    s##i##0 = fma(a, b, s##i##0);      \
    s##i##1 = fma(a, b_next, s##i##1); \
  }
#define TWO_SET(i)                                              \
  if (i < live) {                                               \
    VSTORE(FINISHED(s##i##0, bias0), 0, out + i * step);    \
    VSTORE(FINISHED(s##i##1, bias1), 0, out + i * step + next); \
  }

// Computes `live` windows, at most as many as FOR_ROWS has rows, starting at `x` with a distance of x_step. `next` is
// the distance to the second vector of channels. The tile also reads windows past the live ones (see conv2d_lines).
#define TILE(name, FOR_ROWS, ZERO, STEP, SET)                                                                        \
  static void name(__global const float* restrict x, long x_step, long line, int lines, int taps,                    \
                   __global const float* restrict weight, long w_step, int next, vec bias0, vec bias1, int relu,     \
                   int live, __global float* restrict out, long step) {                                           \
    FOR_ROWS(ZERO)                                                                                                   \
    for (int h = 0; h < lines; ++h, x += line) {                                                                     \
      __global const float* p = x;                                                                                   \
      for (int j = 0; j < taps; ++j, ++p, weight += w_step) {                                                        \
        const vec b = VLOAD(0, weight), b_next = VLOAD(0, weight + next);                                            \
        FOR_ROWS(STEP)                                                                                               \
      }                                                                                                              \
    }                                                                                                                \
    FOR_ROWS(SET)                                                                                                    \
  }
#include "conv/tile_sizes.cl"

// Requires VW <= out_channels. The last vector starts early. The scratch of a work-item holds the lines of a band with
// their padding, and 12 more windows.
__kernel ONE_ITEM void conv2d_lines(ITEM const LinesArgs args, __global const float* images,
                                    __global const float* weight, __global const float* bias, __global float* out,
                                    __global float* scratch) {
  const WindowSides s = args.sides;
  const int line = args.line, taps = s.kernel_w * s.channels, relu = args.relu;
  const long first = (long)get_global_id(0) * args.bands_each, last = min(first + args.bands_each, args.bands);
  const long x_step = (long)s.stride_w * s.channels;
  scratch += (long)get_global_id(0) * args.scratch_each;
  for (long band = first; band < last; ++band) {
    const long n = band / args.bands_per_image;
    const int begin = (int)(band % args.bands_per_image) * args.rows_each, rows = min(args.rows_each, s.out_h - begin);
    padded_band(images + args.images.offset + n * args.images.step, s.height, s.width * s.channels,
                s.pad_w * s.channels, line, begin * s.stride_h - s.pad_h, (rows - 1) * s.stride_h + s.kernel_h, scratch);
    for (int c = 0; c < s.out_channels; c += 2 * VW) {
      const int c0 = min(c, s.out_channels - VW), two = c + VW < s.out_channels,
                next = two ? min(c + VW, s.out_channels - VW) - c0 : 0;
      const vec bias0 = args.biased ? VLOAD(0, bias + args.bias_offset + c0) : SPLAT(0.0f),
                bias1 = args.biased ? VLOAD(0, bias + args.bias_offset + c0 + next) : SPLAT(0.0f);
      for (int r = 0; r < rows; ++r)
        for (int i = 0, size; i < s.out_w; i += size) {
          size = tile_rows(two, s.out_w - i);
          const int live = min(size, s.out_w - i);
          __global float* to =
              out + args.out.offset + n * args.out.step + (begin + r) * args.out_line + i * args.out_step + c0;
#define TILE_ARGUMENTS                                                                                             \
  (scratch + (long)r * s.stride_h * line + i * x_step, x_step, line, s.kernel_h, taps,                             \
   weight + args.weight.offset + c0, args.weight.step, next, bias0, bias1, relu, live, to, args.out_step)
          RUN_TILE(two, size, TILE_ARGUMENTS)
        }
    }
  }
}

// Computes the weights of the convolution that yields the gradient of every stride-th pixel of the images: the pixels
// of the window that these pixels use, from last to first, with swapped channels. A work-item computes one pixel.
__kernel ONE_ITEM void turn_weights(ITEM const TurnWeightsArgs args, __global const float* weight,
                                    __global float* turned) {
  const int pixel = (int)get_global_id(0);
  const int i = args.first_h + (args.taps_h - 1 - pixel / args.taps_w) * args.stride_h,
            j = args.first_w + (args.taps_w - 1 - pixel % args.taps_w) * args.stride_w;
  __global const float* from =
      weight + args.weight.offset + (long)(i * args.kernel_w + j) * args.channels * args.weight.step;
  __global float* to = turned + args.turned_offset + (long)pixel * args.channels * args.out_channels;
  for (int o = 0; o < args.out_channels; ++o)
    for (int c = 0; c < args.channels; ++c) to[(long)o * args.channels + c] = from[c * args.weight.step + o];
}
