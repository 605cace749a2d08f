// Declares the transforms of minimal filtering for windows of 3 x 3 with stride 1, under the rules of loops.hpp.
// Source: A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
//
// A tile of 4 x 4 outputs takes 36 products in the transformed space instead of the 144 of its definition. The
// polynomials are those of the OpenCL backend (conv/minimal_filtering.cl), with the points 0, +-P, +-1 / P and
// infinity, P = sqrt(1/2). Element (i, j) of the transformed space has number 6 * i + j.
#pragma once

#include <cstdint>

namespace mokume::host {

constexpr int64_t kFilteringSpace = 36;
constexpr int64_t kFilteringTile = 4;       // outputs of a tile along each side
constexpr int64_t kFilteringChannels = 16;  // the transforms take at least these channels of inputs and outputs

// Describes filters whose columns are adjacent. Weight (i, j) of term k is row (3 * i + j) * terms + k.
struct FilterWeights {
  const float* weight;
  int64_t weight_step, terms, columns;
  float* out;  // element e of term k and column c is at out[e * apart + k * columns + c]
  int64_t apart;
};

// Describes the 6 x 6 pixels of a tile. Pixels outside the image are 0.
struct FilterPixels {
  const float* image;
  int64_t height, width, channels, top, left;
  float* out;  // element e of channel c is at out[e * apart + c]
  int64_t apart;
};

// Describes the outputs of a tile: y = activation(outputs + bias), for the first `rows` x `columns` of them.
struct FilterOutputs {
  const float* sums;  // element e of channel c is at sums[e * apart + c]
  int64_t apart, channels;
  const float* bias;  // null if there is none
  bool relu;
  int64_t rows, columns;
  float* out;  // the distances from an output to the next, and to that below it, are `step` and `line`
  int64_t step, line;
};

struct FilteringLoops {
  // Transforms the weights of terms [first, last).
  void (*weights)(const FilterWeights& weights, int64_t first, int64_t last);
  void (*pixels)(const FilterPixels& tile);
  void (*outputs)(const FilterOutputs& tile);
};

}  // namespace mokume::host
