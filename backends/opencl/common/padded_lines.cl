// Lines of an image with the zeros around it, for convolutions that read them where they lie.
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

// Copies lines [first, first + count) of an image of `height` lines of `width` floats; lines may lie outside. Each gets
// `pad` zeros on either side.
static void padded_band(__global const float* image, int height, int width, int pad, int first, int count,
                        __global float* to) {
  const int line = width + 2 * pad;
  for (int y = first; y < first + count; ++y, to += line) {
    if (y < 0 || y >= height) {
      zero_line(line, to);
      continue;
    }
    zero_line(pad, to);
    copy_line(image + (long)y * width, width, to + pad);
    zero_line(pad, to + pad + width);
  }
}
