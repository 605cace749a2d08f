// Computes averages under a window (sdk/ops/avg_pool.hpp).
#include "common/math.cl"
#include "common/windows.cl"
#include "formulas/average.cl"
#include "pool/window_args.h"

// Returns the factor of the divisor along one side of the window at `first`, which is negative in the padding.
static int length_of(int first, int kernel_size, int size, int pad, int counts_padding) {
  return counts_padding ? min(kernel_size, size + pad - first) : min(first + kernel_size, size) - max(first, 0);
}

__kernel void avg_window(ITEM const AvgWindowArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.out_h);
    const int y = (int)(r - n * sides.out_h), top = y * sides.stride_h - sides.pad_h;
    const int i1 = min(top + sides.kernel_h, sides.height),
              h = length_of(top, sides.kernel_h, sides.height, sides.pad_h, args.counts_padding);
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global float* to = out + args.cells.offset + n * args.cells.step + (long)y * sides.out_w * sides.channels;
    FOR_EACH_COLUMN(sides.out_w) {
      const int left = x * sides.stride_w - sides.pad_w, j0 = max(left, 0), j1 = min(left + sides.kernel_w, sides.width);
      const vec share = share_of(h, length_of(left, sides.kernel_w, sides.width, sides.pad_w, args.counts_padding));
      FOR_EACH_CHANNEL(sides.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int i = max(top, 0); i < i1; ++i) {
          __global const float* p = image + ((long)i * sides.width + j0) * sides.channels + k;
          for (int j = j0; j < j1; ++j, p += sides.channels) sum += VLOAD(0, p);
        }
        VSTORE(sum * share, 0, to + (long)x * sides.channels + k);
      }
    }
  }
}

__kernel void avg_window_grad(ITEM const AvgWindowArgs args, __global const float* grad, __global float* dx) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.height);
    const int y = (int)(r - n * sides.height);
    WINDOWS_OF(y, sides.pad_h, sides.kernel_h, sides.stride_h, sides.out_h, low_y, high_y);
    __global const float* from = grad + args.cells.offset + n * args.cells.step;
    __global float* to = dx + args.images.offset + n * args.images.step + (long)y * sides.width * sides.channels;
    FOR_EACH_COLUMN(sides.width) {
      WINDOWS_OF(x, sides.pad_w, sides.kernel_w, sides.stride_w, sides.out_w, low_x, high_x);
      FOR_EACH_CHANNEL(sides.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int wy = low_y; wy <= high_y; ++wy) {
          const int h = length_of(wy * sides.stride_h - sides.pad_h, sides.kernel_h, sides.height, sides.pad_h,
                                  args.counts_padding);
          for (int wx = low_x; wx <= high_x; ++wx) {
            const int w = length_of(wx * sides.stride_w - sides.pad_w, sides.kernel_w, sides.width, sides.pad_w,
                                    args.counts_padding);
            const vec value = VLOAD(0, from + ((long)wy * sides.out_w + wx) * sides.channels + k);
            sum = fma(value, share_of(h, w), sum);
          }
        }
        VSTORE(sum, 0, to + (long)x * sides.channels + k);
      }
    }
  }
}
