// Computes convolutions on GPUs as products without patches in memory (implicit GEMM). The products are
//   FORWARD     windows x patch elements (i, j, c) times the weights
//   BY_INPUT    pixels x windows' elements (i, j, filter) times the weights: the gradient of the images. Here (i, j)
//               counts from the last pixel of the window, so that the rows and columns of windows ascend.
//   BY_WEIGHT   patch elements x windows times the gradients of the windows
// where pixel (i, j) of a window and channel c of the group are an element of its patch. WAY is one of them. With A_WIDE,
// vectors of four channels (filters in BY_INPUT) are aligned and lie in one pixel.
#include "gemm/operand.cl"
#include "implicit/implicit_args.h"

#define ARGS ImplicitArgs
#define FORWARD 1
#define BY_INPUT 2
#define BY_WEIGHT 3

// A place in a patch: pixel (i, j) and channel or filter c.
typedef struct {
  int i, j, c;
} element_t;

// Returns element `at` of patches with `depth` channels per pixel.
INLINE element_t element_of(uint at, uint depth, uint kernel_w) {
  element_t e;
  const uint pixel = at / depth;
  e.c = at - pixel * depth;
  e.i = pixel / kernel_w;
  e.j = pixel - e.i * kernel_w;
  return e;
}

// Returns the element `count` places after `e`.
INLINE element_t after(element_t e, int count, int depth, int kernel_w) {
  for (e.c += count; e.c >= depth; e.c -= depth)
    if (++e.j == kernel_w) {
      e.j = 0;
      ++e.i;
    }
  return e;
}

// A row of `columns` outputs or pixels per line, `lines` per image.
typedef struct {
  int image, y, x;
} pixel_t;

INLINE pixel_t pixel_of(offset_t at, uint lines, uint columns) {
  pixel_t p;
  p.image = (int)(at / (lines * columns));
  const uint in_image = (uint)(at - (offset_t)p.image * (lines * columns));
  p.y = in_image / columns;
  p.x = in_image - p.y * columns;
  return p;
}

#if A_WIDE
#define ELEMENTS 1  // a vector has its own place
#else
#define ELEMENTS 4
#endif

#if WAY == BY_WEIGHT

// The distance of an element of a vector from the first one.
typedef struct {
  int down, right, apart;
} step_t;

// Each load has its own element of the patch, and its own window, which moves on.
typedef struct {
  __global const float* at;  // the element in the window, also if it lies in the padding
  int top, left;             // the element's pixel in the first window of an image
  int y, x;                  // the window
  int rows;                  // number of elements of the vector that exist
  step_t steps[ELEMENTS];
} window_t;

typedef struct {
  window_t windows[LOADS(BM)];
  int id;
} a_source;

INLINE void a_begin(__private a_source* s, const ARGS args, __global const float* images, index_t row, int rows,
                    long first, int id) {
  const WindowSides sides = args.sides;
  s->id = id;
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) {
    const place_t place = place_of(l, BM, 0, id);
    const element_t e = element_of((uint)row + place.row, args.group_channels, sides.kernel_w);
    const pixel_t p = pixel_of((offset_t)first + place.k, sides.out_h, sides.out_w);
    window_t w;
    w.top = e.i * args.dilation_h - sides.pad_h;
    w.left = e.j * args.dilation_w - sides.pad_w;
    w.y = p.y;
    w.x = p.x;
    w.rows = rows - place.row;
    w.at = images + args.product.a.offset + p.image * args.image_step +
           (((p.y * sides.stride_h + w.top) * sides.width + p.x * sides.stride_w + w.left) * sides.channels + e.c);
    element_t other = e;
    UNROLL
    for (int i = 0; i < ELEMENTS; ++i) {
      w.steps[i].down = (other.i - e.i) * args.dilation_h;
      w.steps[i].right = (other.j - e.j) * args.dilation_w;
      w.steps[i].apart =
          (w.steps[i].down * sides.width + w.steps[i].right) * sides.channels + (other.c - e.c);
      other = after(other, 1, args.group_channels, sides.kernel_w);
    }
    s->windows[l] = w;
  }
}

INLINE void a_advance(__private a_source* s, const ARGS args) {
  const WindowSides sides = args.sides;
  const int next = sides.stride_w * sides.channels, line = sides.stride_h * sides.width * sides.channels;
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) {
    window_t w = s->windows[l];
    w.at += BK * next;
    for (w.x += BK; w.x >= sides.out_w; w.x -= sides.out_w) {
      w.at += line - sides.out_w * next;
      if (++w.y == sides.out_h) {
        w.y = 0;
        w.at += args.image_step - sides.out_h * line;
      }
    }
    s->windows[l] = w;
  }
}

INLINE float4 a_fetch(__private const a_source* s, const ARGS args, int load, int left) {
  float4 v = (float4)(0.0f);
  const WindowSides sides = args.sides;
  const window_t w = s->windows[load];
  const int exist = left - place_of(load, BM, 0, s->id).k > 0 ? w.rows : 0;
  const int y = w.y * sides.stride_h + w.top, x = w.x * sides.stride_w + w.left;
#if A_WIDE
  if ((uint)y < (uint)sides.height && (uint)x < (uint)sides.width && exist > 0) v = *(__global const float4*)w.at;
#else
  float some[4];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const step_t step = w.steps[i];
    const int inside = (uint)(y + step.down) < (uint)sides.height && (uint)(x + step.right) < (uint)sides.width;
    some[i] = inside && i < exist ? w.at[step.apart] : 0.0f;
  }
  v = (float4)(some[0], some[1], some[2], some[3]);
#endif
  return v;
}

#else

#if WAY == FORWARD
#define DEPTH args.group_channels
#else
#define DEPTH args.group_filters
#endif

// A window's first pixel, and the distance of its first element from the tile's first image. In BY_INPUT, the first
// window that sees a pixel, times the stride.
typedef struct {
  distance_t at;
  int top, left;
} window_t;

// All loads have the same elements of their windows, which move on.
typedef struct {
  __global const float* from;  // the image of the tile's first row
  window_t windows[LOADS(BM)];
  element_t elements[ELEMENTS];
  int id;
} a_source;

INLINE void set_elements(__private a_source* s, const ARGS args, element_t first) {
  UNROLL
  for (int i = 0; i < ELEMENTS; ++i) {
    s->elements[i] = first;
    first = after(first, 1, DEPTH, args.sides.kernel_w);
  }
}

INLINE void a_begin(__private a_source* s, const ARGS args, __global const float* from, index_t row, int rows,
                    long first, int id) {
  const WindowSides sides = args.sides;
#if WAY == FORWARD
  const uint lines = sides.out_h, columns = sides.out_w;
#else
  const uint lines = sides.height, columns = sides.width;
#endif
  const int image0 = (int)((offset_t)row / (lines * columns));
  s->from = from + args.product.a.offset + image0 * args.image_step;
  s->id = id;
  set_elements(s, args, element_of((uint)first + place_of(0, BM, 1, id).k, DEPTH, sides.kernel_w));
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) {
    const pixel_t p = pixel_of((offset_t)row + min(place_of(l, BM, 1, id).row, rows - 1), lines, columns);
    window_t w;
    w.at = (distance_t)(p.image - image0) * (distance_t)args.image_step;
#if WAY == FORWARD
    w.top = p.y * sides.stride_h - sides.pad_h;
    w.left = p.x * sides.stride_w - sides.pad_w;
    w.at += (w.top * sides.width + w.left) * sides.channels;
#else
    w.top = p.y + sides.pad_h - (sides.kernel_h - 1) * args.dilation_h;
    w.left = p.x + sides.pad_w - (sides.kernel_w - 1) * args.dilation_w;
#if STRIDE_H == 1 && STRIDE_W == 1
    w.at += (w.top * sides.out_w + w.left) * sides.out_channels;
#endif
#endif
    s->windows[l] = w;
  }
}

INLINE void a_advance(__private a_source* s, const ARGS args) {
  set_elements(s, args, after(s->elements[0], BK, DEPTH, args.sides.kernel_w));
}

// Returns whether the element of a window exists, and its distance from the first image.
INLINE bool find(window_t w, const ARGS args, element_t e, __private distance_t* distance) {
  const WindowSides sides = args.sides;
  const int down = e.i * args.dilation_h, right = e.j * args.dilation_w;
#if WAY == FORWARD
  *distance = w.at + ((down * sides.width + right) * sides.channels + e.c);
  return (uint)(w.top + down) < (uint)sides.height && (uint)(w.left + right) < (uint)sides.width;
#elif STRIDE_H == 1 && STRIDE_W == 1
  *distance = w.at + ((down * sides.out_w + right) * sides.out_channels + e.c);
  return (uint)(w.top + down) < (uint)sides.out_h && (uint)(w.left + right) < (uint)sides.out_w;
#else
  const uint from_y = w.top + down, from_x = w.left + right, y = from_y / STRIDE_H, x = from_x / STRIDE_W;
  *distance = w.at + ((int)(y * sides.out_w + x) * sides.out_channels + e.c);
  return y * STRIDE_H == from_y && x * STRIDE_W == from_x && y < (uint)sides.out_h && x < (uint)sides.out_w;
#endif
}

INLINE float4 a_fetch(__private const a_source* s, const ARGS args, int load, int left) {
  float4 v = (float4)(0.0f);
  const int exist = left - place_of(load, BM, 1, s->id).k;
  distance_t at;
#if A_WIDE
  if (find(s->windows[load], args, s->elements[0], &at) && exist > 0) v = *(__global const float4*)(s->from + at);
#else
  float some[4];
  UNROLL
  for (int i = 0; i < 4; ++i)
    some[i] = find(s->windows[load], args, s->elements[i], &at) && i < exist ? s->from[at] : 0.0f;
  v = (float4)(some[0], some[1], some[2], some[3]);
#endif
  return v;
}

#endif

#if WAY == BY_INPUT

// Weights: row c of the product is channel c of the group, and the terms are the filters of one pixel after the other,
// from the last pixel to the first.
typedef struct {
  __global const float* weights;  // the row of the last pixel
  int rows[LOADS(BN)];
  int pixel, filter, id;
} b_source;

INLINE void b_begin(__private b_source* s, const ARGS args, __global const float* weights, index_t row, int rows,
                    long first, int id) {
  const int at = (int)first + place_of(0, BN, 1, id).k;
  const int last = (args.sides.kernel_h * args.sides.kernel_w - 1) * args.group_channels;
  s->weights = weights + args.product.b.offset + (row + last) * args.product.b.row_step;
  s->pixel = at / args.group_filters;
  s->filter = at - s->pixel * args.group_filters;
  s->id = id;
  UNROLL
  for (int l = 0; l < LOADS(BN); ++l) s->rows[l] = min(place_of(l, BN, 1, id).row, rows - 1);
}

INLINE void b_advance(__private b_source* s, const ARGS args) {
  for (s->filter += BK; s->filter >= args.group_filters; s->filter -= args.group_filters) ++s->pixel;
}

INLINE float4 b_fetch(__private const b_source* s, const ARGS args, int load, int left) {
  float4 v = (float4)(0.0f);
  const int exist = left - place_of(load, BN, 1, s->id).k;
  const long step = args.product.b.row_step;
  __global const float* at = s->weights + (s->rows[load] - s->pixel * args.group_channels) * step + s->filter;
#if B_WIDE
  if (exist > 0) v = *(__global const float4*)at;
#else
  float some[4];
  int filter = s->filter;
  UNROLL
  for (int i = 0; i < 4; ++i) {
    some[i] = i < exist ? *at : 0.0f;
    ++at;
    if (++filter == args.group_filters) {
      filter = 0;
      at -= args.group_channels * step + args.group_filters;
    }
  }
  v = (float4)(some[0], some[1], some[2], some[3]);
#endif
  return v;
}

#else

typedef matrix_t b_source;

INLINE void b_begin(__private b_source* s, const ARGS args, __global const float* b, index_t row, int rows, long first,
                    int id) {
  begin_matrix(s, args.product.b, b, row, rows, first, id, BN, 0, B_WIDE);
}
INLINE float4 b_fetch(__private const b_source* s, const ARGS args, int load, int left) {
  return fetch_matrix(s, load, left, BN, 0, B_WIDE);
}
INLINE void b_advance(__private b_source* s, const ARGS args) { s->at += BK * args.product.b.k_step; }

#endif

#define A_ALONG_K (WAY != BY_WEIGHT)
#define B_ALONG_K (WAY == BY_INPUT)
#if WAY == BY_INPUT
#define MASKS
#endif
#include "gemm/product_sum.cl"

__kernel GROUP_OF(GX, GY) void convolve(ITEM const ImplicitArgs args, __global const float* a, __global const float* b,
                                        __global const float* bias, __global float* out, __local float4* quads) {
  sum_tile(THIS_ITEM args, a, b, bias, out, quads);
}
