// Computes convolutions of one channel with stride 1 on CPUs: the product of patches and weights, without building the
// patches. A register tile multiplies MR neighbouring windows of a line at a time. Their elements e are adjacent in the
// image. Sums run as in gemm.hpp, for patches of at most KB elements.
#include "conv/direct_args.h"
#include "gemm/skinny.cl"

static void copy_floats(__global const float* from, int count, __global float* to) {
  int i = 0;
  for (; i + VW <= count; i += VW) VSTORE(VLOAD(0, from + i), 0, to + i);
  if (i == count) return;
  if (count >= VW)
    VSTORE(VLOAD(0, from + count - VW), 0, to + count - VW);
  else
    for (; i < count; ++i) to[i] = from[i];
}

static void put_zeros(int count, __global float* to) {
  for (int i = 0; i < count; ++i) to[i] = 0.0f;
}

// Copies lines [from, from + count) of an image with their padding. Lines may lie outside the image.
static void padded_lines(__global const float* image, int height, int width, int pad_w, int from, int count, int line,
                         __global float* to) {
  const int begin = min(max(-from, 0), count), end = max(begin, min(height - from, count));  // lines inside the image
  const int at_once = pad_w == 0 ? max(end - begin, 1) : 1;
  put_zeros(begin * line, to);
  for (int i = begin; i < end; i += at_once) {
    put_zeros(pad_w, to + i * line);
    copy_floats(image + (long)(from + i) * width, at_once * width, to + i * line + pad_w);
    put_zeros(line - pad_w - width, to + i * line + pad_w + width);
  }
  put_zeros((count - end) * line, to + end * line);
}

// Computes `live` windows, at most as many as FOR_ROWS has rows, starting with the window at `a`. Writes `columns`
// channels of each window; windows are out_channels apart in out. `pixel_step` is 1 (see direct_args.h).
#define DIRECT_STEP(i)              \
  {                                 \
    const vec ai = SPLAT(p[i]);     \
    s##i##0 = fma(ai, b0, s##i##0); \
    s##i##1 = fma(ai, b1, s##i##1); \
  }
#define DIRECT_TOUCH(i)                                   \
  if (i < live) {                                         \
    FETCH_TO_WRITE(out + (long)i * out_channels);         \
    FETCH_TO_WRITE(out + (long)i * out_channels + VW);     \
    FETCH_TO_WRITE(out + (long)i * out_channels + NR - 1); \
  }
#define DIRECT_STEP_NARROW(i) s##i##0 = fma(SPLAT(p[i]), b0, s##i##0);
// This form lets a NaN pass through.
#define ACTIVATE(v) ((v) = relu ? ((v) < 0.0f ? SPLAT(0.0f) : (v)) : (v))
#define DIRECT_FINISH(i) \
  if (biased) {          \
    s##i##0 += bias0;    \
    s##i##1 += bias1;    \
  }                      \
  ACTIVATE(s##i##0);     \
  ACTIVATE(s##i##1);
#define DIRECT_SET(i)                                 \
  if (i < live) {                                     \
    VSTORE(s##i##0, 0, out + (long)i * out_channels); \
    VSTORE(s##i##1, 1, out + (long)i * out_channels); \
  }
#define DIRECT(name, FOR_ROWS)                                                                                   \
  static void name(__global const float* restrict a, int pixel_step, int line, int kernel_h, int kernel_w,       \
                   __global const float* restrict b, __global const float* bias, int biased, int relu, int live, \
                   int columns, __global float* out, int out_channels) {                                         \
    FOR_ROWS(ZERO)                                                                                               \
    FOR_ROWS(DIRECT_TOUCH)                                                                                       \
    for (int y = 0; y < kernel_h; ++y, a += line) {                                                              \
      __global const float* p = a;                                                                               \
      if (columns > VW)                                                                                          \
        for (int x = 0; x < kernel_w; ++x, b += NR, p += pixel_step) {                                           \
          const vec b0 = VLOAD(0, b), b1 = VLOAD(1, b);                                                          \
          FOR_ROWS(DIRECT_STEP)                                                                                  \
        }                                                                                                        \
      else                                                                                                       \
        for (int x = 0; x < kernel_w; ++x, b += NR, p += pixel_step) {                                           \
          const vec b0 = VLOAD(0, b);                                                                            \
          FOR_ROWS(DIRECT_STEP_NARROW)                                                                           \
        }                                                                                                        \
    }                                                                                                            \
    const vec bias0 = biased ? VLOAD(0, bias) : SPLAT(0.0f), bias1 = biased ? VLOAD(1, bias) : SPLAT(0.0f);      \
    FOR_ROWS(DIRECT_FINISH)                                                                                      \
    if (columns == NR) {                                                                                         \
      FOR_ROWS(DIRECT_SET)                                                                                       \
      return;                                                                                                    \
    }                                                                                                            \
    float edge[MR * NR];                                                                                         \
    FOR_ROWS(SPILL)                                                                                              \
    for (int i = 0; i < live; ++i)                                                                               \
      for (int c = 0; c < columns; ++c) out[(long)i * out_channels + c] = edge[i * NR + c];                      \
  }
DIRECT(direct_whole, FOR_MR)
DIRECT(direct_middle, FOR_MIDDLE)
DIRECT(direct_small, FOR_SMALL)

// One work-item computes rows_each rows of windows. Its scratch holds panels * NR * (patch + 1) + lines * line + MR
// floats, with line = width + 2 * pad_w and lines = min(rows_each, out_h, LINES) + kernel_h - 1.
__kernel ONE_ITEM void conv2d_direct(ITEM const ConvDirectArgs args, __global const float* images,
                                     __global const float* weight, __global const float* bias, __global float* out,
                                     __global float* scratch) {
  const WindowSides sides = args.sides;
  const int patch = sides.kernel_h * sides.kernel_w, line = sides.width + 2 * sides.pad_w,
            panels = (sides.out_channels + NR - 1) / NR;
  scratch += (long)get_global_id(0) * args.scratch_each;
  // Packs the weights and the bias in panels of NR, with zeros past the last channel.
  __global float* packed_bias = scratch + panels * NR * patch;
  __global float* lines = packed_bias + panels * NR;
  for (int panel = 0; panel < panels; ++panel)
    for (int e = 0; e <= patch; ++e)
      for (int i = 0; i < NR; ++i) {
        const int c = panel * NR + i;
        if (e < patch)
          scratch[(panel * patch + e) * NR + i] =
              c < sides.out_channels ? weight[args.weight.offset + e * args.weight.step + c] : 0.0f;
        else
          packed_bias[c] = c < sides.out_channels && args.biased ? bias[args.bias_offset + c] : 0.0f;
      }
  const long begin = (long)get_global_id(0) * args.rows_each, end = min(begin + args.rows_each, args.rows);
  int count;
  for (long row = begin; row < end; row += count) {
    const long n = row / sides.out_h;
    const int y0 = (int)(row - n * sides.out_h);
    count = (int)min((long)min(sides.out_h - y0, LINES), end - row);
    padded_lines(images + args.images.offset + n * args.images.step, sides.height, sides.width, sides.pad_w,
                 y0 - sides.pad_h, count + sides.kernel_h - 1, line, lines);
    for (int i = 0; i < MR; ++i) lines[(count + sides.kernel_h - 1) * line + i] = 0.0f;
    __global float* to = out + args.out.offset + n * args.out.step + (long)y0 * sides.out_w * sides.out_channels;
    for (int y = 0; y < count; ++y)
      for (int x = 0; x < sides.out_w; x += MR) {
        const int live = min(MR, sides.out_w - x);
        for (int panel = 0; panel < panels; ++panel) {
#define WINDOWS                                                                                           \
  lines + y *line + x, args.pixel_step, line, sides.kernel_h, sides.kernel_w, scratch + panel *patch *NR, \
      packed_bias + panel *NR, args.biased, args.relu, live, min(NR, sides.out_channels - panel * NR),    \
      to + ((long)y * sides.out_w + x) * sides.out_channels + panel *NR, sides.out_channels
          if (live <= SMALL)
            direct_small(WINDOWS);
          else if (live <= MIDDLE)
            direct_middle(WINDOWS);
          else
            direct_whole(WINDOWS);
        }
      }
  }
}
