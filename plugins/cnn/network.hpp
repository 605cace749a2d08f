// A network as a plan: stages with shapes and where their parameters lie, before any device is involved.
//
// Images are height x width x channels, channels innermost (PyTorch: channels first); weights are (inputs x outputs),
// one row per element of a patch or an input. Both are turned into PyTorch's order where they leave the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/ops/avg_pool.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/window.hpp"
#include "settings.hpp"

namespace mokume::cnn {

struct Shape {
  int64_t height = 1, width = 1, channels = 1;
  bool flat = false;  // rows of features, no image any more

  int64_t elements() const { return height * width * channels; }
};

// One tensor of parameters within the flat vector of all.
struct Parameter {
  std::string name;  // PyTorch's within a Sequential: "0.weight"
  Shape in;          // of a weight: what it is applied to (a patch for a convolution)
  int64_t outputs = 0;
  bool convolution = false;
  bool bias = false;  // a vector of `outputs`
  int64_t offset = 0;
  int64_t fan_in = 1;

  bool is_linear_weight() const { return !convolution && !bias; }
  // A tensor is rows() x outputs here and outputs x rows() in PyTorch, whose rows also have another order.
  int64_t rows() const { return bias ? 1 : in.elements(); }
  int64_t size() const { return rows() * outputs; }
  std::vector<int64_t> torch_shape() const;
  // The column in PyTorch of row `row` here.
  int64_t torch_column(int64_t row) const {
    return bias ? 0 : row % in.channels * in.height * in.width + row / in.channels;
  }
};

// `count` rows of one parameter as PyTorch keeps it, those of outputs from `first` on: count x rows() floats, dense.
// From and to the flat vector of all.
void to_torch(const Parameter& parameter, const std::vector<float>& all, int64_t first, int64_t count, float* values);
void from_torch(const Parameter& parameter, const float* values, int64_t first, int64_t count, std::vector<float>& all);

struct Stage {
  enum class Kind { convolution, linear, relu, max_pool, avg_pool, dropout, normalise } kind;
  uint32_t layer = 0;  // in the list of layers, from 0
  Shape in, out;
  ops::Window window;  // convolution, max_pool
  ops::AvgPool pool;
  ops::Activation activation = ops::Activation::none;  // of a convolution or linear stage: the relu behind it
  int64_t weight = -1, bias = -1;                      // offsets of parameters; -1: none
  double p = 0;                                        // dropout
  Normalise normalise{0, 1, false};

  bool ends_in_relu() const { return kind == Kind::relu || activation == ops::Activation::relu; }
  bool has_parameters() const { return weight >= 0; }
  // Of its weight and bias, which lie behind each other from `weight` on.
  int64_t n_parameters = 0;
  bool in_place = false;     // works on its input's memory: nobody needs what was there
  bool relu_before = false;  // a relu of a stage before it looks at that memory on the way back
};

struct Network {
  Shape input;
  std::vector<Stage> stages;
  std::vector<Parameter> parameters;
  int64_t n_parameters = 0;

  int64_t outputs() const { return stages.empty() ? input.elements() : stages.back().out.elements(); }
  // The first stage whose input's gradient nobody needs comes before this one.
  size_t first_with_parameters() const;
};

// Error(MK_INVALID_ARGUMENT) naming the layer and the cure: a window larger than its image, a linear layer on an image,
// outputs that are not as many as the classes (or 1 for regression).
Network make_network(const Settings& settings, const Shape& input, int64_t outputs);

// The layer table: type, output shape, number of parameters.
std::string describe(const Settings& settings, const Network& network);

}  // namespace mokume::cnn
