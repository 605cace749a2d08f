// Defines minimal filtering with the polynomials of Toom and Cook over tiles of 6 x 6 pixels, for convolutions with a window
// of 3 x 3 and stride 1. Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
//
// A tile of 4 x 4 outputs takes 36 products in the transformed space instead of the 144 of its definition. The same
// holds for the gradient of 3 x 3 weights from a tile of 4 x 4. The points are 0, +-P, +-Q and infinity with P =
// sqrt(1/2) and Q = sqrt(2). P * Q = 1 keeps the transforms short, and the error is a third of the error with the usual
// points 0, +-1, +-2. Element (i, j) of the transformed space has number 6 * i + j.
#include "common/divide.cl"
#include "common/vector.cl"

#define P 0.70710678118654752440f
#define Q 1.41421356237309504880f
#define SPACE 36

// Transform six pixels, three weights or four output gradients. t[i] applies row i of the transform's matrix.
static void pixels_1d(__private const vec* d, __private vec* t) {
  t[0] = fma(SPLAT(-2.5f), d[2], d[0] + d[4]);
  const vec even_p = fma(SPLAT(-2.0f), d[2], d[4]), odd_p = P * fma(SPLAT(-2.0f), d[1], d[3]);
  t[1] = even_p + odd_p;
  t[2] = even_p - odd_p;
  const vec even_q = fma(SPLAT(-0.5f), d[2], d[4]), odd_q = Q * fma(SPLAT(-0.5f), d[1], d[3]);
  t[3] = even_q + odd_q;
  t[4] = even_q - odd_q;
  t[5] = fma(SPLAT(-2.5f), d[3], d[1] + d[5]);
}

static void weights_1d(__private const vec* g, __private vec* t) {
  t[0] = g[0];
  const vec even_p = fma(SPLAT(0.5f), g[2], g[0]) * (-2.0f / 3), odd_p = (-2.0f / 3 * P) * g[1];
  t[1] = even_p + odd_p;
  t[2] = even_p - odd_p;
  const vec even_q = fma(SPLAT(2.0f), g[2], g[0]) * (1.0f / 6), odd_q = (1.0f / 6 * Q) * g[1];
  t[3] = even_q + odd_q;
  t[4] = even_q - odd_q;
  t[5] = g[2];
}

static void grads_1d(__private const vec* g, __private vec* t) {
  t[0] = g[0];
  const vec even_p = fma(SPLAT(0.5f), g[2], g[0]) * (-2.0f / 3), odd_p = fma(SPLAT(0.5f), g[3], g[1]) * (-2.0f / 3 * P);
  t[1] = even_p + odd_p;
  t[2] = even_p - odd_p;
  const vec even_q = fma(SPLAT(2.0f), g[2], g[0]) * (1.0f / 6), odd_q = fma(SPLAT(2.0f), g[3], g[1]) * (1.0f / 6 * Q);
  t[3] = even_q + odd_q;
  t[4] = even_q - odd_q;
  t[5] = g[3];
}

// Transform six elements back into four outputs or three gradients of weights.
static void outputs_1d(__private const vec* m, __private vec* y) {
  const vec sum_p = m[1] + m[2], difference_p = m[1] - m[2], sum_q = m[3] + m[4], difference_q = m[3] - m[4];
  y[0] = m[0] + sum_p + sum_q;
  y[1] = fma(SPLAT(Q), difference_q, P * difference_p);
  y[2] = fma(SPLAT(2.0f), sum_q, 0.5f * sum_p);
  y[3] = fma(SPLAT(2.0f * Q), difference_q, fma(SPLAT(0.5f * P), difference_p, m[5]));
}

static void weight_grads_1d(__private const vec* m, __private vec* y) {
  const vec sum_p = m[1] + m[2], difference_p = m[1] - m[2], sum_q = m[3] + m[4], difference_q = m[3] - m[4];
  y[0] = m[0] + sum_p + sum_q;
  y[1] = fma(SPLAT(Q), difference_q, P * difference_p);
  y[2] = fma(SPLAT(2.0f), sum_q, fma(SPLAT(0.5f), sum_p, m[5]));
}

// Locates a tile: its image and the top left corner of its 4 x 4 outputs.
typedef struct {
  long image;
  int y, x;
} corner_t;

static corner_t corner_of(long tile, int out_h, int out_w) {
  const int across = (out_w + 3) / 4, down = (out_h + 3) / 4;
  const long row = divide(tile, across);
  corner_t p;
  p.image = divide(row, down);
  p.y = 4 * (int)(row - p.image * down);
  p.x = 4 * (int)(tile - row * across);
  return p;
}

// Transforms VW channels of the 6 x 6 pixels at (top, left), with 0 outside the image. Element e is at out + e * apart.
static void pixels_of_tile(__global const float* image, int height, int width, int channels, int top, int left,
                    __global float* out, long apart) {
  vec t[6][6];
  image += ((long)top * width + left) * channels;
  const bool inside = top >= 0 && left >= 0 && top + 6 <= height && left + 6 <= width;
  UNROLL
  for (int j = 0; j < 6; ++j) {
    vec d[6], column[6];
    UNROLL
    for (int i = 0; i < 6; ++i) {
      const bool here = inside || (top + i >= 0 && top + i < height && left + j >= 0 && left + j < width);
      d[i] = here ? VLOAD(0, image + ((long)i * width + j) * channels) : SPLAT(0.0f);
    }
    pixels_1d(d, column);
    UNROLL
    for (int i = 0; i < 6; ++i) t[i][j] = column[i];
  }
  UNROLL
  for (int i = 0; i < 6; ++i) {
    vec row[6];
    pixels_1d(t[i], row);
    UNROLL
    for (int j = 0; j < 6; ++j) VSTORE(row[j], 0, out + (6 * i + j) * apart);
  }
}

// Computes VW channels of the 4 x 4 outputs of a tile from elements m + e * apart. Skips outputs outside the image. Outputs
// are 0 where `passed`, which lies like `out`, is not above 0; it may be null.
static void outputs_of_tile(__global const float* m, long apart, vec bias, int relu, __global const float* passed,
                            int rows, int columns, __global float* out, long row_step, long column_step) {
  vec t[4][6];
  UNROLL
  for (int j = 0; j < 6; ++j) {
    vec d[6], column[4];
    UNROLL
    for (int i = 0; i < 6; ++i) d[i] = VLOAD(0, m + (6 * i + j) * apart);
    outputs_1d(d, column);
    UNROLL
    for (int i = 0; i < 4; ++i) t[i][j] = column[i];
  }
  UNROLL
  for (int i = 0; i < 4; ++i) {
    vec y[4];
    outputs_1d(t[i], y);
    UNROLL
    for (int j = 0; j < 4; ++j) {
      const vec sum = y[j] + bias;
      if (i >= rows || j >= columns) continue;
      const long at = i * row_step + j * column_step;
      vec value = relu ? (sum < 0.0f ? SPLAT(0.0f) : sum) : sum;  // this form lets a NaN pass through
      if (passed != 0) value = VLOAD(0, passed + at) > 0.0f ? value : SPLAT(0.0f);
      VSTORE(value, 0, out + at);
    }
  }
}
