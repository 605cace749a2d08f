// Implements unfold of patches.cpp pixel by pixel, for dilated windows, for a part of the channels and for gradients of
// images, and places the pixels of these gradients.
#include "common/windows.cl"
#include "conv/pixels_args.h"

__kernel void unfold_pixels(ITEM const PixelsArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long row = args.first_row + r, n = divide(row, sides.out_h);
    const int top = (int)(row - n * sides.out_h) * sides.stride_h - sides.pad_h;
    __global const float* image = images + args.images.offset + n * args.images.step;
    FOR_EACH_COLUMN(sides.out_w) {
      const int left = x * sides.stride_w - sides.pad_w;
      FOR_EACH_CHANNEL(args.each) {
        const int k = CHANNEL;
        __global float* to = out + args.patches.offset + (r * sides.out_w + x) * args.patches.step + k;
        for (int i = 0; i < sides.kernel_h; ++i) {
          const int from_y = top + i * args.dilation_h;
          for (int j = 0; j < sides.kernel_w; ++j, to += args.each) {
            const int from_x = left + j * args.dilation_w;
            if (from_y >= 0 && from_y < sides.height && from_x >= 0 && from_x < sides.width)
              VSTORE(VLOAD(0, image + ((long)from_y * sides.width + from_x) * sides.channels + k), 0, to);
            else
              VSTORE(SPLAT(0.0f), 0, to);
          }
        }
      }
    }
  }
}

// Copies rows of pixels of a phase to their places in the images.
__kernel void place_pixels(ITEM const PlacePixelsArgs args, __global const float* pixels, __global float* images) {
  FOR_EACH_ROW {
    const long row = args.first_row + r, n = divide(row, args.rows);
    const int y = args.first_h + (int)(row - n * args.rows) * args.step_h;
    __global float* line = images + args.images.offset + n * args.images.step + (long)y * args.width * args.channels;
    FOR_EACH_COLUMN(args.columns) {
      __global const float* from = pixels + args.pixels.offset + (r * args.columns + x) * args.pixels.step;
      __global float* to = line + (long)(args.first_w + x * args.step_w) * args.channels;
      FOR_EACH_CHANNEL(args.channels) {
        const int k = CHANNEL;
        VSTORE(VLOAD(0, from + k), 0, to + k);
      }
    }
  }
}
