// Shapes, and the tensors of parameters that layers declare.
//
// Images are height x width x channels, channels innermost (PyTorch: channels first). Weights are (inputs x outputs),
// one row for each element of a patch or an input. Both are converted to PyTorch's order where they leave the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::cnn {

struct Shape {
  int64_t height = 1, width = 1, channels = 1;
  bool flat = false;  // rows of features, which may have been images of this height, width and channels

  int64_t elements() const { return height * width * channels; }
  bool operator==(const Shape&) const = default;
};

// Returns "1 x 28 x 28", channels first, or the number of features.
std::string text(const Shape& shape);

// One tensor within the flat vector of all parameters.
struct Parameter {
  enum class Kind {
    bias,         // a vector
    convolution,  // a weight
    linear,       // a weight
    features      // a vector with one element for each element of `in`, in PyTorch's order of features; outputs is 1
  };

  std::string name;     // as in PyTorch: "weight"; the layer's name comes first: "0.weight"
  Shape in;             // of a weight: the shape it is applied to (a patch for a convolution)
  int64_t outputs = 0;  // the length of a bias
  Kind kind = Kind::bias;
  double bound = 0;  // of initial values, see Draw; if it is 0, they are `start`
  int64_t offset = 0;
  double start = 0;
  // Above 0: a running mean, not learned. Its gradient is its difference from the mean of the batch, and a step moves
  // it by this share of the gradient.
  double momentum = 0;
  bool frozen = false;  // keeps its value

  enum class Draw {
    uniform,    // in +-bound
    normal,     // with mean 0 and the deviation `bound`
    truncated,  // the same, cut off at -2 and 2
    orthogonal  // rows or columns, whichever are fewer, are orthogonal, with the norm `bound`
  } draw = Draw::uniform;

  bool learned() const { return momentum == 0; }

  // A tensor is rows() x outputs here. In PyTorch it is outputs x rows(), and the rows are in another order.
  int64_t rows() const { return kind == Kind::bias ? 1 : in.elements(); }
  int64_t size() const { return rows() * outputs; }
  std::vector<int64_t> torch_shape() const;
  // Returns the column in PyTorch of row `row` here.
  int64_t torch_column(int64_t row) const {
    return kind == Kind::bias ? 0 : row % in.channels * in.height * in.width + row / in.channels;
  }
};

// Both copy outputs [first, first + count) of one parameter between the flat vector of all parameters and PyTorch's
// layout: count x rows() floats, dense.
void to_torch(const Parameter& parameter, const std::vector<float>& all, int64_t first, int64_t count, float* values);
void from_torch(const Parameter& parameter, const float* values, int64_t first, int64_t count, std::vector<float>& all);

}  // namespace mokume::cnn
