// Describes a convolution in the form that its three ops and the algorithms share.
#pragma once

#include "common/grid.hpp"
#include "runtime/buffer.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {

// Names workspace slots of the queue. Products use slots 0 and 1.
constexpr size_t kPatchesSlot = 2, kScratchSlot = 2, kSumsSlot = 3, kPlacedSlot = 4, kSpreadSlot = 0;

// The pieces of a gradient of weights (ops::gradient_pieces). Unless `fresh`, their sums are added to what the gradient
// holds.
struct Pieces {
  int64_t rows_each, count;
  bool fresh;
};

struct ConvProblem {
  ops::Window window;
  mk_tensor images, weight, windows;
  int64_t out_channels;

  ConvProblem(const mk_op& op, const mk_tensor& images_, const mk_tensor& weight_, const mk_tensor& windows_)
      : window(ops::window_of(op.conv2d.window)),
        images(images_),
        weight(weight_),
        windows(windows_),
        out_channels(weight_.columns) {}

  // Returns whether the pixels of all images are contiguous, like the rows of one matrix.
  bool dense() const { return windows.rows <= 1 || windows.row_stride == windows.columns; }
  int64_t lines() const { return window.height + 2 * window.pad_h; }  // lines of a padded image
  int64_t line() const { return window.width + 2 * window.pad_w; }
  // Returns whether the windows have neighbouring pixels, all channels, and equal padding on both sides of the image.
  bool plain() const { return !window.dilated() && !window.lopsided() && window.groups == 1; }
  WindowSides sides() const { return sides_of(window, out_channels); }
  int64_t rows() const { return images.rows * window.out_height(); }  // rows of windows of all images
  // Returns a view with one row per output pixel of `count` rows of windows. Requires dense().
  mk_tensor pixels(int64_t first, int64_t count) const {
    return sdk::matrix(windows.buffer, count * window.out_width(), out_channels, 0,
                       windows.offset + first * window.out_width() * out_channels);
  }
  ConvProblem image(int64_t n) const {
    ConvProblem one = *this;
    one.images = row_of(images, n);
    one.windows = row_of(windows, n);
    return one;
  }

 private:
  static mk_tensor row_of(const mk_tensor& t, int64_t n) {
    return sdk::matrix(t.buffer, 1, t.columns, t.row_stride, t.offset + n * t.row_stride);
  }
};

// Calls body(some, n) for all images at once if they are dense, otherwise for each image n.
template <class Body>
void for_dense(const ConvProblem& p, Body&& body) {
  if (p.dense()) return body(p, int64_t{0});
  for (int64_t n = 0; n < p.images.rows; ++n) body(p.image(n), n);
}

// Holds an optional bias or its gradient. If there is none, kernels receive other memory, which they do not access.
struct OptionalView {
  OptionalView(const mk_tensor& wanted, const mk_tensor& instead)
      : there(wanted.buffer != nullptr ? 1 : 0),
        memory(opencl::memory(there != 0 ? wanted : instead)),
        offset(there != 0 ? wanted.offset : 0) {}
  i32 there;
  cl_mem memory;
  i64 offset;
};

}  // namespace mokume::opencl
