// Defines what convolutions without patches share: lines of an image with the zeros around them, and register tiles.
#include "common/vector.cl"

static void copy_line(__global const float* from, int count, __global float* to) {
  int i = 0;
  for (; i + VW <= count; i += VW) VSTORE(VLOAD(0, from + i), 0, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

static void zero_line(int count, __global float* to) {
  int i = 0;
  for (; i + VW <= count; i += VW) VSTORE(SPLAT(0.0f), 0, to + i);
  for (; i < count; ++i) to[i] = 0.0f;
}

// Copies the first `channels` floats of each pixel. Pixels are `step` floats apart.
static void copy_pixels(__global const float* from, int pixels, int channels, int step, __global float* to) {
  if (channels == step)
    copy_line(from, pixels * channels, to);
  else
    for (int i = 0; i < pixels; ++i) copy_line(from + (long)i * step, channels, to + i * channels);
}

// Copies some channels of lines [first, first + count) of an image of `height` lines of `width` pixels. Lines may lie
// outside the image. Each copy has `line` floats, of which the first `before` pixels and those past the image are zeros.
static void padded_band(__global const float* image, int height, int width, int channels, int step, int before, int line,
                        int first, int count, __global float* to) {
  const int skipped = before * channels, inside = min(width, line / channels - before);
  for (int y = first; y < first + count; ++y, to += line) {
    if (y < 0 || y >= height) {
      zero_line(line, to);
      continue;
    }
    zero_line(skipped, to);
    copy_pixels(image + (long)y * width * step, inside, channels, step, to + skipped);
    zero_line(line - skipped - inside * channels, to + skipped + inside * channels);
  }
}

// The sums of a tile, a vector or two of the other operand and a broadcast fill the registers of the instruction set
// (see tile_sizes.cl). With 16 registers, a tile of two vectors has 6 rows; 8 rows would not fit.
#define FOR_4(X) X(0) X(1) X(2) X(3)
#define FOR_6(X) FOR_4(X) X(4) X(5)
#define FOR_8(X) FOR_6(X) X(6) X(7)
#define FOR_12(X) FOR_8(X) X(8) X(9) X(10) X(11)

// Returns the number of rows of the next tile if `left` rows are left. The tile may have more rows than are left.
static int tile_rows(int two, int left) {
#if REGISTERS == 16
  if (two) return left == 7 || left == 8 || left <= 4 ? 4 : 6;
#endif
  return left > 8 ? 12 : left > 4 ? 8 : 4;
}

// Calls the tile that has `rows` rows. `arguments` is a list in parentheses.
#if REGISTERS == 32
#define RUN_LARGE_TILE_OF_TWO(rows, arguments) \
  if ((rows) == 12)                            \
    two_of_12 arguments;                       \
  else                                         \
    two_of_8 arguments;
#else
#define RUN_LARGE_TILE_OF_TWO(rows, arguments) two_of_6 arguments;
#endif
#define RUN_TILE(two, rows, arguments)     \
  if (two) {                               \
    if ((rows) == 4)                       \
      two_of_4 arguments;                  \
    else                                   \
      RUN_LARGE_TILE_OF_TWO(rows, arguments) \
  } else if ((rows) == 12) {               \
    one_of_12 arguments;                   \
  } else if ((rows) == 8) {                \
    one_of_8 arguments;                    \
  } else {                                 \
    one_of_4 arguments;                    \
  }
