// Computes convolutions on CPUs by minimal filtering. Channels fill whole vectors. KC channels at a time are adjacent, so
// that the rows of a product are a constant distance apart. Work-items process TILES tiles at once.
#include "conv/minimal_filtering.cl"
#include "conv/winograd_args.h"
#include "gemm/vector.cl"

#define TILES (2 * MR)

// Transforms the weights into panels of NR lanes. Element e of term k and lane l is at ((e * panels + l / NR) * terms +
// k) * NR + l % NR. Forward (flip = 0), terms are input channels, and lanes are output channels. For the gradient of
// the pixels (flip = 1), they are swapped, and the window is rotated by 180 degrees.
__kernel ONE_ITEM void winograd_weights(ITEM const WinogradWeightsArgs args, __global const float* weight,
                                        __global float* out) {
  const int l = (int)get_global_id(0) * VW, k = (int)get_global_id(1), panels = (args.lanes + NR - 1) / NR;
  const int in_channels = args.flip ? args.lanes : args.terms;
  weight += args.weight.offset;
  vec t[6][3];
  UNROLL
  for (int j = 0; j < 3; ++j) {
    vec g[3], column[6];
    UNROLL
    for (int i = 0; i < 3; ++i) {
      if (l >= args.lanes) {
        g[i] = SPLAT(0.0f);
      } else if (args.flip) {
        float gathered[VW];
        for (int lane = 0; lane < VW; ++lane)
          gathered[lane] = weight[((long)(8 - 3 * i - j) * in_channels + l + lane) * args.weight.step + k];
        g[i] = VLOAD(0, gathered);
      } else {
        g[i] = VLOAD(0, weight + ((long)(3 * i + j) * in_channels + k) * args.weight.step + l);
      }
    }
    weights_1d(g, column);
    UNROLL
    for (int i = 0; i < 6; ++i) t[i][j] = column[i];
  }
  const long apart = (long)panels * args.terms * NR;
  out += ((long)(l / NR) * args.terms + k) * NR + l % NR;
  UNROLL
  for (int i = 0; i < 6; ++i) {
    vec row[6];
    weights_1d(t[i], row);
    UNROLL
    for (int j = 0; j < 6; ++j) VSTORE(row[j], 0, out + (6 * i + j) * apart);
  }
}

// Multiplies a few tiles by one panel of weights. Channels are in blocks of KC that are block_step apart.
#define PRODUCT_STEP(i)                            \
  {                                                \
    const vec ai = (vec)(a[i * KC + k]);           \
    s##i##0 = fma(ai, b0, s##i##0);                \
    s##i##1 = fma(ai, b1, s##i##1);                \
  }
#define PRODUCT_SET(i)                             \
  VSTORE(s##i##0, 0, out + i * NR);                \
  VSTORE(s##i##1, 1, out + i * NR);
#define PRODUCT(name, FOR_ROWS)                                                                                       \
  static void name(__global const float* restrict a, int blocks, long block_step, __global const float* restrict b,         \
            __global float* restrict out) {                                                                          \
    FOR_ROWS(ZERO)                                                                                                    \
    for (int block = 0; block < blocks; ++block, a += block_step)                                                    \
      for (int k = 0; k < KC; ++k, b += NR) {                                                                        \
        const vec b0 = VLOAD(0, b), b1 = VLOAD(1, b);                                                                \
        FOR_ROWS(PRODUCT_STEP)                                                                                        \
      }                                                                                                              \
    FOR_ROWS(PRODUCT_SET)                                                                                             \
  }
PRODUCT(product, FOR_MR)
PRODUCT(product_half, FOR_HALF)
PRODUCT(product_few, FOR_FEW)

static void products(__global const float* a, int live, int blocks, __global const float* b, __global float* out) {
  const long block_step = (long)TILES * KC;
  int rows;
  for (int t = 0; t < live; t += rows) {
    rows = rows_of(live - t);
    if (rows == MR)
      product(a + t * KC, blocks, block_step, b, out + t * NR);
    else if (rows == HALF)
      product_half(a + t * KC, blocks, block_step, b, out + t * NR);
    else
      product_few(a + t * KC, blocks, block_step, b, out + t * NR);
  }
}

// One work-item processes tiles_each tiles and panels_each panels of output channels. Its scratch holds SPACE * TILES *
// (channels + NR) floats.
__kernel ONE_ITEM void winograd_conv2d(ITEM const WinogradConvArgs args, __global const float* images,
                                       __global const float* restrict weights, __global const float* bias,
                                       __global float* out, __global float* scratch) {
  const WindowSides sides = args.sides;
  const long begin = (long)get_global_id(0) * args.tiles_each, end = min(begin + args.tiles_each, args.tiles);
  const int panels = (sides.out_channels + NR - 1) / NR, first_panel = (int)get_global_id(1) * args.panels_each;
  const long item = (long)get_global_id(0) * get_global_size(1) + get_global_id(1);
  __global float* pixels = scratch + item * SPACE * TILES * (sides.channels + NR);
  __global float* transformed = pixels + (long)SPACE * TILES * sides.channels;
  const long apart = (long)TILES * sides.channels;
  images += args.images.offset;
  out += args.out.offset;
  for (long first = begin; first < end; first += TILES) {
    const int live = (int)min((long)TILES, end - first);
    // A product may take up to three rows more than there are tiles. These rows repeat the last tile.
    for (int t = 0; t < min(live + 3, TILES); ++t) {
      const corner_t at = corner_of(first + min(t, live - 1), sides.out_h, sides.out_w);
      __global const float* image = images + at.image * args.images.step;
      for (int c = 0; c < sides.channels; c += VW)
        pixels_of_tile(image + c, sides.height, sides.width, sides.channels, at.y - sides.pad_h, at.x - sides.pad_w,
                       pixels + (c / KC * TILES + t) * KC + c % KC, apart);
    }
    for (int panel = first_panel; panel < min(first_panel + args.panels_each, panels); ++panel) {
      for (int e = 0; e < SPACE; ++e)
        products(pixels + e * apart, live, sides.channels / KC,
                 weights + ((long)e * panels + panel) * sides.channels * NR, transformed + e * TILES * NR);
      for (int t = 0; t < live; ++t) {
        const corner_t at = corner_of(first + t, sides.out_h, sides.out_w);
        __global float* to =
            out + at.image * args.out.step + ((long)at.y * sides.out_w + at.x) * sides.out_channels + panel * NR;
        for (int c = 0; c < NR && panel * NR + c < sides.out_channels; c += VW)
          outputs_of_tile(transformed + t * NR + c, TILES * NR,
                          args.biased ? VLOAD(0, bias + args.bias_offset + panel * NR + c) : SPLAT(0.0f), args.relu, 0,
                          sides.out_h - at.y, sides.out_w - at.x, to + c, (long)sides.out_w * sides.out_channels,
                          sides.out_channels);
      }
    }
  }
}

// Transforms the tiles from `first` on. Element e of tile t and channel c of the pixels is at (e * most + t) * channels
// + c. The gradients of the outputs have the same layout, from grads_at on. One work-item transforms one tile.
__kernel ONE_ITEM void winograd_spread(ITEM const WinogradTransformArgs args, __global const float* images,
                                       __global const float* grads, __global float* out) {
  const WindowSides sides = args.sides;
  const long t = (long)get_global_id(0);
  __global float* grads_out = out + args.grads_at;
  const corner_t at = corner_of(args.first + t, sides.out_h, sides.out_w);
  __global const float* image = images + args.images.offset + at.image * args.images.step;
  for (int c = 0; c < sides.channels; c += VW)
    pixels_of_tile(image + c, sides.height, sides.width, sides.channels, at.y - sides.pad_h, at.x - sides.pad_w,
                   out + t * sides.channels + c, args.most * sides.channels);
  __global const float* from =
      grads + args.grads.offset + at.image * args.grads.step + ((long)at.y * sides.out_w + at.x) * sides.out_channels;
  for (int c = 0; c < sides.out_channels; c += VW) {
    vec s[6][4];
    UNROLL
    for (int j = 0; j < 4; ++j) {
      vec g[4], column[6];
      UNROLL
      for (int i = 0; i < 4; ++i)
        g[i] = at.y + i < sides.out_h && at.x + j < sides.out_w
                   ? VLOAD(0, from + ((long)i * sides.out_w + j) * sides.out_channels + c)
                   : SPLAT(0.0f);
      grads_1d(g, column);
      UNROLL
      for (int i = 0; i < 6; ++i) s[i][j] = column[i];
    }
    UNROLL
    for (int i = 0; i < 6; ++i) {
      vec row[6];
      grads_1d(s[i], row);
      UNROLL
      for (int j = 0; j < 6; ++j) VSTORE(row[j], 0, grads_out + ((6 * i + j) * args.most + t) * sides.out_channels + c);
    }
  }
}

// Adds the products of pixels and gradients over `count` tiles to sums. Product (k, c) of element e is at (e * channels
// + k) * out_channels + c. One work-item computes MR * rows_each rows of one element.
__kernel ONE_ITEM void winograd_sum(ITEM const WinogradSumArgs args, __global const float* restrict spread,
                                    __global float* restrict sums) {
  const int e = (int)get_global_id(1), begin = (int)get_global_id(0) * args.rows_each * MR;
  const int end = min(begin + args.rows_each * MR, args.channels);
  __global const float* pixels = spread + e * args.most * args.channels;
  __global const float* grads = spread + args.grads_at + e * args.most * args.out_channels;
  sums += (long)e * args.channels * args.out_channels;
  for (int t = 0; t < args.count; t += KB)
    for (int c = 0; c < args.out_channels; c += NR) {
      // The last columns start early, and the results that overlap earlier columns are dropped.
      const int c0 = max(0, min(c, args.out_channels - NR));
      for (int k = begin; k < end; k += MR)
        tile(pixels + (long)t * args.channels + k, args.channels, grads + (long)t * args.out_channels + c0,
             args.out_channels, min(KB, args.count - t), sums + (long)k * args.out_channels + c0, args.out_channels, 1,
             min(MR, end - k), c - c0, min(NR, args.out_channels), 1.0f, 0.0f, args.first && t == 0);
    }
}

// Transforms the sums back. One work-item computes VW output channels of one input channel.
__kernel ONE_ITEM void winograd_weight_grads(ITEM const WinogradWeightGradsArgs args, __global const float* sums,
                                             __global float* out) {
  const int c = (int)get_global_id(0) * VW, k = (int)get_global_id(1);
  const long apart = (long)args.channels * args.out_channels;
  sums += (long)k * args.out_channels + c;
  out += args.out.offset + k * args.out.step + c;
  vec t[3][6];
  UNROLL
  for (int j = 0; j < 6; ++j) {
    vec m[6], column[3];
    UNROLL
    for (int i = 0; i < 6; ++i) m[i] = VLOAD(0, sums + (6 * i + j) * apart);
    weight_grads_1d(m, column);
    UNROLL
    for (int i = 0; i < 3; ++i) t[i][j] = column[i];
  }
  UNROLL
  for (int i = 0; i < 3; ++i) {
    vec y[3];
    weight_grads_1d(t[i], y);
    UNROLL
    for (int j = 0; j < 3; ++j) VSTORE(y[j], 0, out + (long)(3 * i + j) * args.channels * args.out.step);
  }
}
