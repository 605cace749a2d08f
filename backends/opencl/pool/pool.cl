// Computes maxima and averages over images (sdk/ops/max_pool.hpp, sdk/ops/avg_pool.hpp).
#include "common/math.cl"
#include "common/windows.cl"
#include "formulas/average.cl"
#include "pool/pool_args.h"

// With HALVES, windows have 2 x 2 pixels, a stride of 2 and no padding. With WHOLE, images become one pixel. These are the
// most frequent forms, for which a GPU then needs neither divisions nor loops.
#ifdef HALVES
static WindowSides fixed(WindowSides sides) {
  sides.kernel_h = sides.kernel_w = sides.stride_h = sides.stride_w = 2;
  sides.pad_h = sides.pad_w = 0;
  return sides;
}
#define FIRST_INSIDE(first) 0
#define LAST_INSIDE(first, kernel_size, size) 2
#else
static WindowSides fixed(WindowSides sides) { return sides; }
#define FIRST_INSIDE(first) max(0, -(first))
#define LAST_INSIDE(first, kernel_size, size) min(kernel_size, (size) - (first))
#endif

// A NaN counts as larger than everything. Among equal elements, the first one wins.
__kernel void max_pool(ITEM const MaxPoolArgs args, __global const float* images, __global float* out,
                       __global int* places) {
  const WindowSides sides = fixed(args.sides);
  FOR_EACH_ROW {
    const long n = divide(r, sides.out_h);
    const int y = (int)(r - n * sides.out_h), top = y * sides.stride_h - sides.pad_h;
    const int i0 = FIRST_INSIDE(top), i1 = LAST_INSIDE(top, sides.kernel_h, sides.height);
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global float* to = out + args.windows.offset + n * args.windows.step + (long)y * sides.out_w * sides.channels;
    __global int* places_to =
        places + args.places.offset + n * args.places.step + (long)y * sides.out_w * sides.channels;
    FOR_EACH_COLUMN(sides.out_w) {
      const int left = x * sides.stride_w - sides.pad_w;
      const int j0 = FIRST_INSIDE(left), j1 = LAST_INSIDE(left, sides.kernel_w, sides.width);
      __global const float* first = image + ((long)(top + i0) * sides.width + left + j0) * sides.channels;
      FOR_EACH_CHANNEL(sides.channels) {
        const int k = CHANNEL;
        vec best = VLOAD(0, first + k);
        ivec at = (ivec)(i0 * sides.kernel_w + j0);
        for (int i = i0; i < i1; ++i) {
          __global const float* p = first + (long)(i - i0) * sides.width * sides.channels + k;
          for (int j = j0; j < j1; ++j, p += sides.channels) {
            const vec value = VLOAD(0, p);
            const ivec larger = (value > best) | ((value != value) & (best == best));
            best = larger ? value : best;
            at = larger ? (ivec)(i * sides.kernel_w + j) : at;
          }
        }
        VSTORE(best, 0, to + (long)x * sides.channels + k);
        VSTORE(at, 0, places_to + (long)x * sides.channels + k);
      }
    }
  }
}

__kernel void max_pool_grad(ITEM const MaxPoolArgs args, __global const float* grad, __global const int* places,
                            __global const float* of_relu, __global float* dx) {
  const WindowSides sides = fixed(args.sides);
  FOR_EACH_ROW {
    const long n = divide(r, sides.height);
    const int y = (int)(r - n * sides.height);
    WINDOWS_OF(y, sides.pad_h, sides.kernel_h, sides.stride_h, sides.out_h, low_y, high_y);
    __global const float* from = grad + args.windows.offset + n * args.windows.step;
    __global const int* places_from = places + args.places.offset + n * args.places.step;
    const long line = (long)y * sides.width * sides.channels;
    __global float* to = dx + args.images.offset + n * args.images.step + line;
    __global const float* passed = of_relu + args.x.offset + n * args.x.step + line;
    FOR_EACH_COLUMN(sides.width) {
      WINDOWS_OF(x, sides.pad_w, sides.kernel_w, sides.stride_w, sides.out_w, low_x, high_x);
      FOR_EACH_CHANNEL(sides.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int wy = high_y; wy >= low_y; --wy)
          for (int wx = high_x; wx >= low_x; --wx) {
            const int here =
                (y + sides.pad_h - wy * sides.stride_h) * sides.kernel_w + x + sides.pad_w - wx * sides.stride_w;
            const long window = ((long)wy * sides.out_w + wx) * sides.channels + k;
            const ivec chosen = VLOAD(0, places_from + window) == (ivec)(here);
            sum += select(SPLAT(0.0f), VLOAD(0, from + window), chosen);
          }
        if (args.after_relu) sum = VLOAD(0, passed + (long)x * sides.channels + k) > 0.0f ? sum : SPLAT(0.0f);
        VSTORE(sum, 0, to + (long)x * sides.channels + k);
      }
    }
  }
}

// Return the bounds [begin, end) of the pixels that cell `at` of `cells` averages along a side of `size` pixels.
#ifdef WHOLE
static int area_begin(int at, int size, int cells) { return 0; }
static int area_end(int at, int size, int cells) { return size; }
#define ROWS_OF_CELLS 1
#define COLUMNS_OF_CELLS 1
#else
static int area_begin(int at, int size, int cells) { return (int)divide((long)at * size, cells); }
static int area_end(int at, int size, int cells) { return (int)divide((long)(at + 1) * size + cells - 1, cells); }
#define ROWS_OF_CELLS args.out_h
#define COLUMNS_OF_CELLS args.out_w
#endif

__kernel void avg_pool(ITEM const AvgPoolArgs args, __global const float* images, __global float* out) {
  FOR_EACH_ROW {
    const long n = divide(r, ROWS_OF_CELLS);
    const int y = (int)(r - n * ROWS_OF_CELLS), i0 = area_begin(y, args.height, args.out_h),
              i1 = area_end(y, args.height, args.out_h);
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global float* to = out + args.cells.offset + n * args.cells.step + (long)y * args.out_w * args.channels;
    FOR_EACH_COLUMN(args.out_w) {
      const int j0 = area_begin(x, args.width, args.out_w), j1 = area_end(x, args.width, args.out_w);
      const vec share = share_of(i1 - i0, j1 - j0);
      FOR_EACH_CHANNEL(args.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int i = i0; i < i1; ++i) {
          __global const float* p = image + ((long)i * args.width + j0) * args.channels + k;
          for (int j = j0; j < j1; ++j, p += args.channels) sum += VLOAD(0, p);
        }
        VSTORE(sum * share, 0, to + (long)x * args.channels + k);
      }
    }
  }
}

static int area_length(int at, int size, int cells) { return area_end(at, size, cells) - area_begin(at, size, cells); }

// Adds the cells whose areas contain a pixel: from pixel * cells / size to ((pixel + 1) * cells - 1) / size. If the
// output is smaller than the image, these are one or two cells per side, whose shares are the same for all channels. (A
// GPU would keep an array of two shares in memory instead of registers.)
__kernel void avg_pool_grad(ITEM const AvgPoolArgs args, __global const float* grad, __global float* dx) {
  FOR_EACH_ROW {
    const long n = divide(r, args.height);
    const int i = (int)(r - n * args.height);
    const int y0 = area_begin(i, ROWS_OF_CELLS, args.height), y1 = area_end(i, ROWS_OF_CELLS, args.height);
    const int first_h = area_length(y0, args.height, args.out_h), last_h = area_length(y1 - 1, args.height, args.out_h);
    __global const float* from = grad + args.cells.offset + n * args.cells.step;
    __global float* to = dx + args.images.offset + n * args.images.step + (long)i * args.width * args.channels;
    FOR_EACH_COLUMN(args.width) {
      const int j0 = area_begin(x, COLUMNS_OF_CELLS, args.width), j1 = area_end(x, COLUMNS_OF_CELLS, args.width);
      const int first_w = area_length(j0, args.width, args.out_w), last_w = area_length(j1 - 1, args.width, args.out_w);
      FOR_EACH_CHANNEL(args.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int cell_y = y0; cell_y < y1; ++cell_y) {
          const int area_h = cell_y == y0   ? first_h
                             : y1 - y0 <= 2 ? last_h
                                            : area_length(cell_y, args.height, args.out_h);
          for (int cell_x = j0; cell_x < j1; ++cell_x) {
            const int area_w = cell_x == j0   ? first_w
                               : j1 - j0 <= 2 ? last_w
                                              : area_length(cell_x, args.width, args.out_w);
            const vec value = VLOAD(0, from + ((long)cell_y * COLUMNS_OF_CELLS + cell_x) * args.channels + k);
            sum = fma(value, share_of(area_h, area_w), sum);
          }
        }
        VSTORE(sum, 0, to + (long)x * args.channels + k);
      }
    }
  }
}
