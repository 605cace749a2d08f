// Describes convolutions by minimal filtering (minimal_filtering.cl), which CPUs and GPUs compute with kernels of their
// own.
#pragma once

#include <utility>

#include "common/divide.hpp"
#include "conv/problem.hpp"

namespace mokume::opencl {

constexpr int64_t kSpace = 36;  // elements of a transformed tile

inline int64_t filtered_tiles(int64_t out_h, int64_t out_w) { return divide_up(out_h, 4) * divide_up(out_w, 4); }

inline bool has_filtered_window(const ops::Window& w) {
  return w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1;
}

// Describes a convolution of `from` with the weights. Each output sums over `terms` input channels and is one of
// `lanes` output channels. With `back`, the weights are rotated by 180 degrees, the images have the shape of the
// windows, and the padding compensates for the size of the window.
struct FilteredConvolution {
  mk_tensor from, to;
  WindowSides sides;
  int64_t terms, lanes;
  bool back;

  static FilteredConvolution forward(const ConvProblem& p) {
    return {p.images, p.windows, p.sides(), p.window.channels, p.out_channels, false};
  }

  // Returns the gradient of the images.
  static FilteredConvolution backward(const ConvProblem& p) {
    WindowSides sides = p.sides();
    std::swap(sides.height, sides.out_h);
    std::swap(sides.width, sides.out_w);
    std::swap(sides.channels, sides.out_channels);
    sides.pad_h = 2 - sides.pad_h;
    sides.pad_w = 2 - sides.pad_w;
    return {p.windows, p.images, sides, p.out_channels, p.window.channels, true};
  }
};

}  // namespace mokume::opencl
