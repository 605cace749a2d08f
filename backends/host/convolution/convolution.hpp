// Describes a convolution to the functions that compute it without patches.
#pragma once

#include "call.hpp"
#include "kept_memory.hpp"
#include "sdk/ops/conv2d.hpp"

namespace mokume::host {

struct NormRows;

// Describes y = activation(x * weight + bias), as in sdk/ops/conv2d.hpp, with the columns of the weights in the order
// of the groups. Output (r, c) of an image is at y.row(image) + r * y_line + c * y_step.
struct Convolution {
  ops::Window window;
  View<const float> x, weight;
  const float* bias;  // null if there is none
  bool relu;
  View<float> y;
  int64_t y_step, y_line;
  const NormRows* norm = nullptr;  // if not null, normalises the outputs, which must be adjacent

  int64_t filters() const { return weight.columns; }
  int64_t group_filters() const { return weight.columns / window.groups; }
};

inline Convolution convolution_of(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> weight = call.input(1);
  return {.window = w,
          .x = call.input(0),
          .weight = weight,
          .bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr,
          .relu = call.op.conv2d.activation == ops::Activation::relu,
          .y = call.output(),
          .y_step = weight.columns,
          .y_line = w.out_width() * weight.columns};
}

// Applies the norm to neighbouring pixels of all channels.
void normalise(const Call& call, const NormRows& norm, float* pixels, int64_t count);

// Computes the convolution by direct.hpp or filtering.hpp. Neither takes all convolutions.
bool is_without_patches(const Call& call, int64_t filters);
void convolve_without_patches(const Call& call, const Convolution& c);

}  // namespace mokume::host
