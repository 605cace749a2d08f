#include "common/common.cl"
#include "conv/turn_args.h"

// Computes the weights of the convolution that yields the gradient of every stride-th pixel of the images: the pixels
// of the window that these pixels use, from last to first, with swapped channels of each group. A work-item computes
// one pixel.
__kernel ONE_ITEM void turn_weights(ITEM const TurnWeightsArgs args, __global const float* weight,
                                    __global float* turned) {
  const int pixel = (int)get_global_id(0), step = args.groups * args.channels;
  const int i = args.first_h + (args.taps_h - 1 - pixel / args.taps_w) * args.step_h,
            j = args.first_w + (args.taps_w - 1 - pixel % args.taps_w) * args.step_w;
  __global const float* from =
      weight + args.weight.offset + (long)(i * args.kernel_w + j) * args.channels * args.weight.step;
  __global float* to = turned + args.turned_offset + (long)pixel * step * args.out_channels;
  for (int g = 0; g < args.groups; ++g, from += args.out_channels, to += args.channels)
    for (int o = 0; o < args.out_channels; ++o)
      for (int c = 0; c < args.channels; ++c) to[(long)o * step + c] = from[c * args.weight.step + o];
}
