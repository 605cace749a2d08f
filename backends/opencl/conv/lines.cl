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

// Computes `live` windows, at most as many as FOR_ROWS has rows, starting at `x` with a distance of x_step. w_skip is
// the distance from the end of a line's weights to the next line's. `next` is the distance to the second vector of
// channels. The tile also reads windows past the live ones (see conv2d_lines).
#define TILE(name, FOR_ROWS, ZERO, STEP, SET)                                                                     \
  static void name(__global const float* restrict x, long x_step, long line, int lines, int taps,                 \
                   __global const float* restrict weight, long w_step, long w_skip, int next, vec bias0,          \
                   vec bias1, int relu, int live, __global float* restrict out, long step) {                      \
    FOR_ROWS(ZERO)                                                                                                \
    for (int h = 0; h < lines; ++h, x += line, weight += w_skip) {                                                \
      __global const float* p = x;                                                                                \
      for (int j = 0; j < taps; ++j, ++p, weight += w_step) {                                                     \
        const vec b = VLOAD(0, weight), b_next = VLOAD(0, weight + next);                                         \
        FOR_ROWS(STEP)                                                                                            \
      }                                                                                                           \
    }                                                                                                             \
    FOR_ROWS(SET)                                                                                                 \
  }
#include "conv/tile_sizes.cl"

// Holds the part [begin, end) of a window's side that lies inside the image.
typedef struct {
  int begin, end;
} part_t;
static part_t part_inside(int first, int size, int side) {
  part_t part;
  part.begin = max(0, -first);
  part.end = max(part.begin, min(size, side - first));
  return part;
}

// `sides` has the channels of one group. Requires VW <= out_channels. The last vector starts early. If images_each is 1, a tile has neighbouring windows of a
// row, and the scratch of a work-item holds the lines of a band with their padding, and 12 more windows. Otherwise, a
// tile has the same window of neighbouring images without the part of it that lies in the padding. The scratch then
// holds the lines of the images of a band, image_apart floats apart, with room for a multiple of 12 images.
__kernel ONE_ITEM void conv2d_lines(ITEM const LinesArgs args, __global const float* images,
                                    __global const float* weight, __global const float* bias, __global float* out,
                                    __global float* scratch) {
  const WindowSides s = args.sides;
  const int line = args.line, relu = args.relu, across = args.images_each > 1, before = across ? 0 : s.pad_w;
  const long first = (long)get_global_id(0) * args.bands_each, last = min(first + args.bands_each, args.bands);
  const long x_step = across ? args.image_apart : (long)s.stride_w * s.channels,
             to_step = across ? args.out.step : args.out_step;
  weight += args.weight.offset;
  scratch += (long)get_global_id(0) * args.scratch_each;
  for (long band = first; band < last; ++band) {
    const int group = (int)(band % args.groups), filters = group * s.out_channels;
    const long bands_before = band / args.groups, n = bands_before / args.bands_per_image * args.images_each;
    const int count = (int)min((long)args.images_each, args.image_count - n), wide = across ? count : s.out_w;
    const int begin = (int)(bands_before % args.bands_per_image) * args.rows_each,
              rows = min(args.rows_each, s.out_h - begin);
    for (int i = 0; i < count; ++i)
      padded_band(images + args.images.offset + (n + i) * args.images.step + group * s.channels, s.height, s.width,
                  s.channels, args.groups * s.channels, before, line, begin * s.stride_h - s.pad_h,
                  (rows - 1) * s.stride_h + s.kernel_h, scratch + i * args.image_apart);
    for (int c = 0; c < s.out_channels; c += 2 * VW) {
      const int c0 = min(c, s.out_channels - VW), two = c + VW < s.out_channels,
                next = two ? min(c + VW, s.out_channels - VW) - c0 : 0;
      const vec bias0 = args.biased ? VLOAD(0, bias + args.bias_offset + filters + c0) : SPLAT(0.0f),
                bias1 = args.biased ? VLOAD(0, bias + args.bias_offset + filters + c0 + next) : SPLAT(0.0f);
      for (int r = 0; r < rows; ++r)
        for (int x = 0; x < (across ? s.out_w : 1); ++x) {
          const int top = across ? (begin + r) * s.stride_h - s.pad_h : 0, left = across ? x * s.stride_w - s.pad_w : 0;
          const part_t h = part_inside(top, s.kernel_h, across ? s.height : s.kernel_h),
                       j = part_inside(left, s.kernel_w, across ? s.width : s.kernel_w);
          const int taps = (j.end - j.begin) * s.channels;
          __global const float* from =
              scratch + (long)(r * s.stride_h + h.begin) * line + (left + j.begin) * s.channels;
          __global const float* weights = weight + (h.begin * s.kernel_w + j.begin) * s.channels * args.weight.step + filters + c0;
          __global float* to =
              out + args.out.offset + n * args.out.step + (begin + r) * args.out_line + x * args.out_step + filters + c0;
          for (int i = 0, size; i < wide; i += size) {
            size = tile_rows(two, wide - i);
            const int live = min(size, wide - i);
#define TILE_ARGUMENTS                                                                                            \
  (from + i * x_step, x_step, line, h.end - h.begin, taps, weights, args.weight.step,                             \
   (s.kernel_w * s.channels - taps) * args.weight.step, next, bias0, bias1, relu, live, to + i * to_step, to_step)
            RUN_TILE(two, size, TILE_ARGUMENTS)
          }
        }
    }
  }
}
