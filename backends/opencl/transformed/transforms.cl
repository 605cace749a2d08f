// Transforms pixels, weights and outputs of convolutions on GPUs (conv/minimal_filtering.cl). VW is 1: adjacent work-items
// process adjacent channels.
#include "conv/minimal_filtering.cl"
#include "transformed/transforms_args.h"

// One work-item transforms one channel of a tile.
__kernel void spread_pixels(ITEM const SpreadPixelsArgs args, __global const float* images, __global float* out) {
  const WindowSides sides = args.sides;
  const long item = (long)get_global_id(0), tile = divide(item, sides.channels);
  const int c = (int)(item - tile * sides.channels);
  if (tile >= args.tiles) return;
  const corner_t at = corner_of(tile, sides.out_h, sides.out_w);
  pixels_of_tile(images + args.images.offset + at.image * args.images.step + c, sides.height, sides.width, sides.channels,
                 at.y - sides.pad_h, at.x - sides.pad_w, out + item, args.tiles * sides.channels);
}

// One work-item transforms the window of one pair of channels.
__kernel void spread_weights(ITEM const SpreadWeightsArgs args, __global const float* weight, __global float* out) {
  const long item = (long)get_global_id(0);
  const int term = (int)divide(item, args.lanes), lane = (int)(item - (long)term * args.lanes);
  if (term >= args.terms) return;
  const int from = args.flip ? lane : term, to = args.flip ? term : lane, inputs = args.flip ? args.lanes : args.terms;
  weight += args.weight.offset + to;
  vec t[6][3];
  UNROLL
  for (int j = 0; j < 3; ++j) {
    vec g[3], column[6];
    UNROLL
    for (int i = 0; i < 3; ++i) {
      const int pixel = args.flip ? 8 - 3 * i - j : 3 * i + j;
      g[i] = weight[((long)pixel * inputs + from) * args.weight.step];
    }
    weights_1d(g, column);
    UNROLL
    for (int i = 0; i < 6; ++i) t[i][j] = column[i];
  }
  const long apart = (long)args.terms * args.lanes;
  UNROLL
  for (int i = 0; i < 6; ++i) {
    vec row[6];
    weights_1d(t[i], row);
    UNROLL
    for (int j = 0; j < 6; ++j) out[(6 * i + j) * apart + item] = row[j];
  }
}

// One work-item computes one channel of the outputs of a tile.
__kernel void gather_outputs(ITEM const GatherOutputsArgs args, __global const float* products,
                             __global const float* bias, __global const float* of_relu, __global float* out) {
  const WindowSides sides = args.sides;
  const long item = (long)get_global_id(0), tile = divide(item, sides.out_channels);
  const int c = (int)(item - tile * sides.out_channels);
  if (tile >= args.tiles) return;
  const corner_t at = corner_of(tile, sides.out_h, sides.out_w);
  const long pixel = ((long)at.y * sides.out_w + at.x) * sides.out_channels + c;
  __global const float* passed =
      args.after_relu ? of_relu + args.passed.offset + at.image * args.passed.step + pixel : 0;
  outputs_of_tile(products + item, args.tiles * sides.out_channels, args.biased ? bias[args.bias_offset + c] : 0.0f,
                  args.relu, passed, sides.out_h - at.y, sides.out_w - at.x,
                  out + args.out.offset + at.image * args.out.step + pixel, (long)sides.out_w * sides.out_channels,
                  sides.out_channels);
}
