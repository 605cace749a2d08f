// Defines shapes, and the parameter tensors that layers declare.
//
// Images are height x width x channels, with channels innermost (PyTorch has channels first). Weights are inputs x
// outputs, with one row for each element of a patch or an input. Both leave the program in PyTorch's order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::cnn {

struct Shape {
  int64_t height = 1, width = 1, channels = 1;
  bool flat = false;  // true for rows of features, which may have been images of this height, width and channels

  int64_t elements() const { return height * width * channels; }
  bool operator==(const Shape&) const = default;
};

// Returns text such as "1 x 28 x 28", with channels first, or the number of features.
std::string text(const Shape& shape);

// Describes one tensor within the flat vector of all parameters.
struct Parameter {
  enum class Kind {
    bias,         // vector
    convolution,  // weight
    linear,       // weight
    features      // vector with one element per element of `in`, in PyTorch's order of features; outputs is 1
  };

  std::string name;     // PyTorch's name after the layer's name, such as "0.weight"
  Shape in;             // shape of a weight's operand (a patch for a convolution)
  int64_t outputs = 0;  // number of outputs; the length of a bias
  Kind kind = Kind::bias;
  double bound = 0;  // parameter of the initial distribution, see Draw; if 0, all values are `start`
  int64_t offset = 0;
  double start = 0;
  // If positive, the parameter is a running mean and not learned. Its gradient is its difference from the mean of the
  // batch, and a step moves it by this share of the gradient.
  double momentum = 0;
  bool frozen = false;  // whether training leaves the parameter unchanged
  int64_t columns = 0;  // for features: if positive, PyTorch's tensor is a matrix with so many columns

  enum class Draw {
    uniform,     // from -bound to bound
    normal,      // mean 0 and deviation `bound`
    truncated,   // normal, cut off at -2 and 2
    orthogonal,  // rows or columns, whichever are fewer, are orthogonal with norm `bound`
    dirac,       // the filter of output o is 1 for the middle pixel of channel o; filters without one are uniform
    whitening    // depends on the training rows (network/whitening.hpp)
  } draw = Draw::uniform;

  bool learned() const { return momentum == 0; }

  // Here, a tensor is rows() x outputs. In PyTorch, a tensor is outputs x rows(), with another order of rows.
  int64_t rows() const { return kind == Kind::bias ? 1 : in.elements(); }
  int64_t size() const { return rows() * outputs; }
  std::vector<int64_t> torch_shape() const;
  // Returns the column in PyTorch that corresponds to `row`.
  int64_t torch_column(int64_t row) const {
    return kind == Kind::bias ? 0 : row % in.channels * in.height * in.width + row / in.channels;
  }
};

// Both functions copy outputs [first, first + count) of one parameter between the flat vector of all parameters and
// PyTorch's layout: count x rows() floats, dense.
void to_torch(const Parameter& parameter, const std::vector<float>& all, int64_t first, int64_t count, float* values);
void from_torch(const Parameter& parameter, const float* values, int64_t first, int64_t count, std::vector<float>& all);

}  // namespace mokume::cnn
