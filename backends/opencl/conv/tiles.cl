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

// Copies lines [first, first + count) of an image of `height` lines of `width` floats. Lines may lie outside the image.
// Each copy has `line` floats, of which the first `before` floats and the floats past the image are zeros.
static void padded_band(__global const float* image, int height, int width, int before, int line, int first, int count,
                        __global float* to) {
  const int inside = min(width, line - before);
  for (int y = first; y < first + count; ++y, to += line) {
    if (y < 0 || y >= height) {
      zero_line(line, to);
      continue;
    }
    zero_line(before, to);
    copy_line(image + (long)y * width, inside, to + before);
    zero_line(line - before - inside, to + before + inside);
  }
}

// A tile has 4, 8 or 12 rows (see tile_sizes.cl).
#define FOR_4(X) X(0) X(1) X(2) X(3)
#define FOR_8(X) FOR_4(X) X(4) X(5) X(6) X(7)
#define FOR_12(X) FOR_8(X) X(8) X(9) X(10) X(11)

// Calls the smallest tile that has `live` rows. `arguments` is a list in parentheses.
#define RUN_TILE(two, live, arguments) \
  if ((two) && (live) > 8)             \
    two_of_12 arguments;               \
  else if ((two) && (live) > 4)        \
    two_of_8 arguments;                \
  else if (two)                        \
    two_of_4 arguments;                \
  else if ((live) > 8)                 \
    one_of_12 arguments;               \
  else if ((live) > 4)                 \
    one_of_8 arguments;                \
  else                                 \
    one_of_4 arguments;
