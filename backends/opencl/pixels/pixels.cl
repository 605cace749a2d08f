// Gathers pixels of images by the indices of their rows and columns (sdk/ops/gather_pixels.hpp). Accesses no pixel at
// an index out of range.
#include "common/windows.cl"
#include "pixels/pixels_args.h"

__kernel void gather_pixels(ITEM const PixelArgs args, __global const float* images, __global const int* row,
                            __global const int* column, __global float* shown) {
  FOR_EACH_ROW {
    const long n = divide(r, args.out_h);
    const int i = (int)(r - n * args.out_h), y = row[args.row_offset + i];
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global float* to = shown + args.shown.offset + n * args.shown.step + (long)i * args.out_w * args.channels;
    FOR_EACH_COLUMN(args.out_w) {
      const int from = column[args.column_offset + x];
      const bool inside = y >= 0 && y < args.height && from >= 0 && from < args.width;
      FOR_EACH_CHANNEL(args.channels) {
        const int k = CHANNEL;
        const vec value =
            inside ? VLOAD(0, image + ((long)y * args.width + from) * args.channels + k) : SPLAT(NAN);
        VSTORE(value, 0, to + (long)x * args.channels + k);
      }
    }
  }
}

__kernel void gather_pixels_grad(ITEM const PixelArgs args, __global const float* shown, __global const int* row,
                                 __global const int* column, __global float* images) {
  row += args.row_offset;
  column += args.column_offset;
  FOR_EACH_ROW {
    const long n = divide(r, args.height);
    const int y = (int)(r - n * args.height);
    __global const float* from = shown + args.shown.offset + n * args.shown.step;
    __global float* to = images + args.images.offset + n * args.images.step + (long)y * args.width * args.channels;
    FOR_EACH_COLUMN(args.width) {
      FOR_EACH_CHANNEL(args.channels) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int i = 0; i < args.out_h; ++i) {
          if (row[i] != y) continue;
          for (int j = 0; j < args.out_w; ++j)
            if (column[j] == x) sum += VLOAD(0, from + ((long)i * args.out_w + j) * args.channels + k);
        }
        VSTORE(sum, 0, to + (long)x * args.channels + k);
      }
    }
  }
}
