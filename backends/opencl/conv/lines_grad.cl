// Computes the gradient of a convolution's weights on CPUs, for windows of any size and stride, without building
// patches. In one line of the window, the elements that a pixel of dy multiplies are adjacent in the image. A register
// tile covers some of them and one or two vectors of output channels, and runs over a band: rows of windows of an image
// or of a few small images. It skips windows for which all of its elements are in the padding.
//
// Every sum of a piece (ops::gradient_pieces) is one chain over its windows. Bands only keep the lines of images in the
// cache: a band continues the chains of the one before. The pieces are added in order.
#include "conv/tiles.cl"
#include "conv/lines_grad_args.h"

#define BEGUN(i, place) fresh || i >= live ? SPLAT(0.0f) : VLOAD(0, place)
#define ONE_ZERO(i) vec s##i = BEGUN(i, to + i * step);
#define ONE_STEP(i) s##i = fma(SPLAT(p[i]), b, s##i);
#define ONE_SET(i) \
  if (i < live) VSTORE(s##i, 0, to + i * step);
#define TWO_ZERO(i) vec s##i##0 = BEGUN(i, to + i * step), s##i##1 = BEGUN(i, to + i * step + VW);
#define TWO_STEP(i)                       \
  {                                       \
    const vec a = SPLAT(p[i]);            \
    s##i##0 = fma(a, b, s##i##0);         \
    s##i##1 = fma(a, b_next, s##i##1);    \
  }
#define TWO_SET(i)                           \
  if (i < live) {                            \
    VSTORE(s##i##0, 0, to + i * step);       \
    VSTORE(s##i##1, 0, to + i * step + VW);  \
  }

// Holds the distances of images, of rows of windows and of windows in a row, and their numbers.
typedef struct {
  long image, row, step;
} apart_t;
typedef struct {
  int images, rows, columns;
} count_t;

// Continues the sums of `live` elements, at most as many as FOR_ROWS has rows, starting at `x`, or begins them if they
// are `fresh`. `next` is the distance to the second vector of dy.
#define TILE(name, FOR_ROWS, ZERO, STEP, SET)                                                                        \
  static void name(__global const float* restrict x, apart_t x_apart, __global const float* restrict dy,             \
                   apart_t d_apart, int next, count_t count, int live, int fresh, __global float* restrict to,       \
                   int step) {                                                                                       \
    FOR_ROWS(ZERO)                                                                                                   \
    for (int n = 0; n < count.images; ++n)                                                                           \
      for (int r = 0; r < count.rows; ++r) {                                                                         \
        __global const float* p = x + n * x_apart.image + r * x_apart.row;                                           \
        __global const float* d = dy + n * d_apart.image + r * d_apart.row;                                          \
        for (int c = 0; c < count.columns; ++c, p += x_apart.step, d += d_apart.step) {                              \
          const vec b = VLOAD(0, d), b_next = VLOAD(0, d + next);                                                    \
          FOR_ROWS(STEP)                                                                                             \
        }                                                                                                            \
      }                                                                                                              \
    FOR_ROWS(SET)                                                                                                    \
  }
#include "conv/tile_sizes.cl"

// Holds the windows [begin, end) along one side that have pixels of the image at one of their places [first, last]. The
// first window begins at `start`, which is negative in the padding.
typedef struct {
  int begin, end;
} windows_t;
static windows_t windows_inside(int start, int stride, int first, int last, int side, int count) {
  const int left = -start - last, right = side - 1 - start - first;
  windows_t windows;
  windows.begin = min(count, left > 0 ? (left + stride - 1) / stride : 0);
  windows.end = max(windows.begin, min(count, right >= 0 ? right / stride + 1 : 0));
  return windows;
}

// Requires VW <= out_channels. The last vector of a group starts early. `part` has part_each floats for each index in
// the first dimension: for each element of the patch of a group, the consecutive vectors of output channels. The scratch
// of a work-item holds the padded lines of the images of a band, and 12 more floats.
__kernel ONE_ITEM void conv2d_lines_grad(ITEM const LinesGradArgs args, __global const float* images,
                                         __global const float* dy, __global float* part, __global float* scratch) {
  const WindowSides s = args.sides;
  const int line = (s.width + 2 * s.pad_w) * s.channels, taps = s.kernel_w * s.channels,
            vectors = (s.out_channels + VW - 1) / VW, pairs = (vectors + 1) / 2, step = args.groups * vectors * VW,
            filters = args.groups * s.out_channels;
  const long first = (long)get_global_id(0) * args.rows_each, last = min(first + args.rows_each, args.rows);
  const int first_unit = (int)get_global_id(1) * args.units_each,
            last_unit = min(first_unit + args.units_each, args.groups * pairs * s.kernel_h);
  part += (long)get_global_id(0) * args.part_each;
  scratch += ((long)get_global_id(0) * get_global_size(1) + get_global_id(1)) * args.scratch_each;
  apart_t x_apart, d_apart;
  x_apart.image = args.image_apart, x_apart.row = (long)s.stride_h * line, x_apart.step = (long)s.stride_w * s.channels;
  d_apart.image = args.dy.step, d_apart.row = (long)s.out_w * filters, d_apart.step = filters;
  int rows;
  count_t count;
  for (long row = first; row < last; row += (long)rows * count.images) {
    const long n = row / s.out_h;
    const int begin = (int)(row - n * s.out_h), top = begin * s.stride_h - s.pad_h;
    rows = (int)min((long)min(args.band_rows, s.out_h - begin), last - row);
    count.images = rows == s.out_h ? (int)min((long)args.images_each, (last - row) / s.out_h) : 1;
    for (int unit = first_unit; unit < last_unit; ++unit) {
      const int group = unit / (pairs * s.kernel_h), v = unit / s.kernel_h % pairs * 2, h = unit % s.kernel_h;
      if (unit == first_unit || unit % (pairs * s.kernel_h) == 0)
        for (int i = 0; i < count.images; ++i)
          padded_band(images + args.images.offset + (n + i) * args.images.step + group * s.channels, s.height, s.width,
                      s.channels, args.groups * s.channels, s.pad_w, line, top, (rows - 1) * s.stride_h + s.kernel_h,
                      scratch + i * args.image_apart);
      const int two = v + 1 < vectors, c = min(v * VW, s.out_channels - VW),
                next = two ? min((v + 1) * VW, s.out_channels - VW) - c : 0;
      const windows_t in_rows = windows_inside(top, s.stride_h, h, h, s.height, rows);
      count.rows = in_rows.end - in_rows.begin;
      __global const float* lines = scratch + h * line + in_rows.begin * x_apart.row;
      __global const float* grads = dy + args.dy.offset + n * args.dy.step + (begin + in_rows.begin) * d_apart.row +
                                    group * s.out_channels + c;
      __global float* to = part + (long)h * taps * step + (group * vectors + v) * VW;
      for (int j = 0, size; j < taps; j += size) {
        size = tile_rows(two, taps - j);
        const int live = min(size, taps - j);
        const windows_t in_row = windows_inside(-s.pad_w, s.stride_w, j / s.channels, (j + live - 1) / s.channels,
                                                s.width, s.out_w);
        count.columns = in_row.end - in_row.begin;
#define TILE_ARGUMENTS                                                                                      \
  (lines + in_row.begin * x_apart.step + j, x_apart, grads + in_row.begin * d_apart.step, d_apart, next, count, \
   live, row == first, to + (long)j * step, step)
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
  part += row * args.groups * vectors * VW;
  for (int g = 0; g < args.groups; ++g, to += args.columns, part += vectors * VW)
    for (int v = 0; v < vectors; ++v) {
      const int begin = min(v * VW, args.columns - VW);
      if (args.fresh) {
        vec sum = VLOAD(v, part);
        for (long p = 1; p < args.parts; ++p) sum += VLOAD(v, part + p * args.part_each);
        VSTORE(sum, 0, to + begin);
        continue;
      }
      for (int i = v * VW - begin; i < VW; ++i) {
        float sum = to[begin + i];
        for (long p = 0; p < args.parts; ++p) sum += part[v * VW + i + p * args.part_each];
        to[begin + i] = sum;
      }
    }
}
