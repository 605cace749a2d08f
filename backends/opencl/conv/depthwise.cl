// Computes convolutions whose groups have one input channel each. With several filters per channel, VW is 1.
#include "common/windows.cl"
#include "conv/depthwise_args.h"

__kernel void depthwise(ITEM const DepthwiseArgs args, __global const float* images, __global const float* weight,
                        __global const float* bias, __global float* out) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.out_h);
    const int y = (int)(r - n * sides.out_h), top = y * sides.stride_h - sides.pad_h;
    __global const float* image = images + args.images.offset + n * args.images.step;
    __global float* to = out + args.windows.offset + n * args.windows.step + (long)y * sides.out_w * sides.out_channels;
    FOR_EACH_COLUMN(sides.out_w) {
      const int left = x * sides.stride_w - sides.pad_w;
      FOR_EACH_CHANNEL(sides.out_channels) {
        const int filter = CHANNEL, k = filter / args.per_channel;
        vec sum = SPLAT(0.0f);
        for (int i = 0; i < sides.kernel_h; ++i) {
          const int from_y = top + i * args.dilation_h;
          if (from_y < 0 || from_y >= sides.height) continue;
          for (int j = 0; j < sides.kernel_w; ++j) {
            const int from_x = left + j * args.dilation_w;
            if (from_x < 0 || from_x >= sides.width) continue;
            sum = fma(VLOAD(0, image + ((long)from_y * sides.width + from_x) * sides.channels + k),
                      VLOAD(0, weight + args.weight.offset + (i * sides.kernel_w + j) * args.weight.step + filter),
                      sum);
          }
        }
        if (args.biased) sum += VLOAD(0, bias + args.bias_offset + filter);
        if (args.relu) sum = sum < 0.0f ? SPLAT(0.0f) : sum;  // this form lets a NaN pass through
        VSTORE(sum, 0, to + (long)x * sides.out_channels + filter);
      }
    }
  }
}

// Visits the windows that contain a pixel in ascending order.
__kernel void depthwise_grad_input(ITEM const DepthwiseArgs args, __global const float* dy, __global const float* weight,
                                   __global float* dx) {
  const WindowSides sides = args.sides;
  FOR_EACH_ROW {
    const long n = divide(r, sides.height);
    const int y = (int)(r - n * sides.height);
    __global const float* from = dy + args.windows.offset + n * args.windows.step;
    __global float* to = dx + args.images.offset + n * args.images.step + (long)y * sides.width * sides.channels;
    FOR_EACH_COLUMN(sides.width) {
      FOR_EACH_CHANNEL(sides.channels) {
        const int k = CHANNEL, first = k * args.per_channel;
        vec sum = SPLAT(0.0f);
        for (int i = sides.kernel_h - 1; i >= 0; --i) {
          const int top = y + sides.pad_h - i * args.dilation_h, wy = top / sides.stride_h;
          if (wy >= sides.out_h) break;
          if (top < 0 || wy * sides.stride_h != top) continue;
          for (int j = sides.kernel_w - 1; j >= 0; --j) {
            const int left = x + sides.pad_w - j * args.dilation_w, wx = left / sides.stride_w;
            if (wx >= sides.out_w) break;
            if (left < 0 || wx * sides.stride_w != left) continue;
            __global const float* d = from + ((long)wy * sides.out_w + wx) * sides.out_channels + first;
            __global const float* w =
                weight + args.weight.offset + (i * sides.kernel_w + j) * args.weight.step + first;
            for (int c = 0; c < args.per_channel; ++c) sum = fma(VLOAD(0, d + c), VLOAD(0, w + c), sum);
          }
        }
        VSTORE(sum, 0, to + (long)x * sides.channels + k);
      }
    }
  }
}

// One work-item sums VW filters at one place of the window over a block of lines. The last vector starts early.
__kernel void depthwise_grad_weight(ITEM const DepthwiseGradArgs args, __global const float* images,
                                    __global const float* dy, __global float* part) {
  const WindowSides sides = args.sides;
  const long item = (long)get_global_id(0), vectors = (sides.out_channels + VW - 1) / VW,
             taps = (long)sides.kernel_h * sides.kernel_w;
  if (item >= args.items) return;
  const long row = divide(item, vectors), block = divide(row, taps), tap = row - block * taps;
  const int c = min((int)(item - row * vectors) * VW, sides.out_channels - VW), k = c / args.per_channel;
  const int i = (int)divide(tap, sides.kernel_w), down = i * args.dilation_h - sides.pad_h,
            across = ((int)tap - i * sides.kernel_w) * args.dilation_w - sides.pad_w;
  vec sum = SPLAT(0.0f);
  const long begin = block * args.lines_each, end = min(begin + args.lines_each, args.lines);
  for (long r = begin; r < end; ++r) {
    const long n = divide(r, sides.out_h);
    const int y = (int)(r - n * sides.out_h), from_y = y * sides.stride_h + down;
    if (from_y < 0 || from_y >= sides.height) continue;
    __global const float* line =
        images + args.images.offset + n * args.images.step + (long)from_y * sides.width * sides.channels + k;
    __global const float* d =
        dy + args.windows.offset + n * args.windows.step + (long)y * sides.out_w * sides.out_channels + c;
    for (int x = 0; x < sides.out_w; ++x, d += sides.out_channels) {
      const int from_x = x * sides.stride_w + across;
      if (from_x < 0 || from_x >= sides.width) continue;
      sum = fma(VLOAD(0, line + (long)from_x * sides.channels), VLOAD(0, d), sum);
    }
  }
  VSTORE(sum, 0, part + row * sides.out_channels + c);
}
