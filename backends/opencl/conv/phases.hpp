// Describes the gradient of a convolution's images as convolutions of dy: one for each phase, which is every stride-th
// pixel of the rows and of the columns of the images. Their windows are the turned windows of the convolution, so the
// sum of a pixel runs over rows and columns of dy in ascending order, and then over the filters.
#pragma once

#include <utility>
#include <vector>

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Describes one side of a phase: the `count` pixels first, first + stride, ... The window's pixels first_tap + k *
// tap_step, from the last of `taps` to the first, are those that see them, in windows of dy which are `dilation` apart.
struct Phase {
  Phase(int64_t index, int64_t side, int64_t kernel, int64_t stride, int64_t dilation_of_window, int64_t padding);

  int64_t first, count, first_tap, tap_step, taps, dilation, pad;
};

struct Phases {
  explicit Phases(const ops::Window& w);

  // The phases of rows and columns that have pixels of both the image and the window.
  std::vector<std::pair<Phase, Phase>> all;
  bool whole = true;   // every pixel of the image is in a phase
  bool padded = true;  // no padding is below 0
};

// Describes dy as the images of a convolution whose windows are the pixels of a phase.
ops::Window window_of(const ConvProblem& p, const Phase& rows, const Phase& columns);

// Copies the pixels of the window that each phase uses, phase after phase: a matrix with a row for each pixel and
// filter and a column for each channel, for each group in turn.
void turn_weights(Launcher& launcher, const ConvProblem& p, const Phases& phases, cl_mem to);

}  // namespace mokume::opencl
