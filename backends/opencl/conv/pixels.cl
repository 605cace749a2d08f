// Implements unfold and fold of patches.cpp pixel by pixel, for dilated windows and for a part of the channels.
#include "common/windows.cl"
#include "conv/pixels_args.h"

__kernel void unfold_pixels(ITEM const PixelsArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.out_h);
    const int top = (int)(r - n * sides.out_h) * sides.stride_h - sides.pad_h;
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

// Visits the pixels of the window in ascending order, like fold in patches.cl.
__kernel void fold_pixels(ITEM const PixelsArgs args, __global const float* patches, __global float* out) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.height);
    const int y = (int)(r - n * sides.height);
    __global float* to = out + args.images.offset + n * args.images.step + (long)y * sides.width * sides.channels;
    FOR_EACH_COLUMN(sides.width) {
      FOR_EACH_CHANNEL(args.each) {
        const int k = CHANNEL;
        vec sum = SPLAT(0.0f);
        for (int i = 0; i < sides.kernel_h; ++i) {
          const int top = y + sides.pad_h - i * args.dilation_h, wy = top / sides.stride_h;
          if (top < 0) break;
          if (wy * sides.stride_h != top || wy >= sides.out_h) continue;
          for (int j = 0; j < sides.kernel_w; ++j) {
            const int left = x + sides.pad_w - j * args.dilation_w, wx = left / sides.stride_w;
            if (left < 0) break;
            if (wx * sides.stride_w != left || wx >= sides.out_w) continue;
            const long window = (n * sides.out_h + wy) * sides.out_w + wx;
            sum += VLOAD(0, patches + args.patches.offset + window * args.patches.step +
                                ((long)i * sides.kernel_w + j) * args.each + k);
          }
        }
        VSTORE(sum, 0, to + (long)x * sides.channels + k);
      }
    }
  }
}
