// Declares the inner loops of the ops for networks (core/sdk/ops), under the rules of loops.hpp. Strides are in
// elements. An output may be the same view as the first input, but must not overlap the other inputs.
#pragma once

#include <cstdint>

#include "abi/op.h"

namespace mokume::host {

struct BiasRows {
  const float* x;
  const float* bias;  // null if there is none
  float* out;
  int64_t rows, columns, x_stride, out_stride;
  bool relu;
  int64_t bias_stride = 0;  // 0 if all rows share one row of biases
};

// Describes dx = y > 0 ? grad : 0.
struct ReluGradRows {
  const float* grad;
  const float* y;
  float* dx;
  int64_t rows, columns, grad_stride, y_stride, dx_stride;
};

struct AffineRows {
  const float* x;
  const float* scale;
  const float* shift;  // null if there is none
  float* out;
  int64_t rows, columns, x_stride, out_stride;
};

struct DropoutRows {
  const float* x;
  float* out;
  int64_t rows, columns, x_stride, out_stride;
  uint32_t key[2];
  uint32_t first_row, step, layer;  // words 0, 2 and 3 of the first row's counters
  uint32_t threshold;
  float scale;
};

// Describes one window of max_pool, clipped to the image.
struct MaxWindow {
  const float* first;  // top left pixel of the clipped window
  int64_t row_stride;  // distance from a pixel to the pixel below it
  int64_t channels;
  int64_t rows, columns;
  int32_t place, place_stride;  // place of that pixel in the window; distance to the place below it
  float* best;
  int32_t* best_place;
};

// Holds the numbers of formulas/step_numbers.hpp.
struct StepNumbers {
  float lr, decay, a, one_minus_a, b, one_minus_b, eps, step_size, to_root, shrink, clip;
  int32_t first, nesterov;
};

// Describes a step on some weights.
struct OptimizerRange {
  const float* grad;
  const float* norm2;  // null if there is none
  float* weight;
  float* state;   // null if there is none
  float* state2;  // null if there is none
  float* state3;  // null if there is none
  int64_t n;
  mk_optimizer kind;
  StepNumbers numbers;
};

struct NetworkLoops {
  void (*bias_act)(const BiasRows& rows);
  void (*relu_grad)(const ReluGradRows& rows);
  void (*affine)(const AffineRows& rows);
  void (*dropout)(const DropoutRows& rows);
  void (*max_window)(const MaxWindow& window);
  void (*optimizer)(const OptimizerRange& range);
  // Computes sum[i] += x[i].
  void (*add)(float* sum, const float* x, int64_t n);
  // Computes sum[i] += x[i] * weight[i].
  void (*add_product)(float* sum, const float* x, const float* weight, int64_t n);
  // Computes sum[i] += place[i] == chosen ? grad[i] : 0.
  void (*add_chosen)(float* sum, const float* grad, const int32_t* place, int32_t chosen, int64_t n);
  // Returns 1 / the number of pixels of an area, for the two functions below.
  float (*share)(int32_t height, int32_t width);
  // Computes sum[i] += x[i] * factor, fused.
  void (*add_scaled)(float* sum, const float* x, float factor, int64_t n);
  // Computes x[i] *= factor.
  void (*scale)(float* x, float factor, int64_t n);
};

}  // namespace mokume::host
