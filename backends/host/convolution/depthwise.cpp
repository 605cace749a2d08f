#include "convolution/depthwise.hpp"

#include <algorithm>
#include <vector>

#include "convolution/patches.hpp"
#include "isa/channels.hpp"
#include "isa/network.hpp"
#include "sdk/ops/conv2d.hpp"

namespace mokume::host {
namespace {

// Calls body(tap, pixel) for every pixel of window (y, x) that lies in the image.
template <class Body>
void for_taps(const ops::Window& w, int64_t y, int64_t x, Body&& body) {
  const int64_t top = y * w.stride_h - w.pad_h, left = x * w.stride_w - w.pad_w;
  for (int64_t i = 0; i < w.kernel_h; ++i) {
    const int64_t at_y = top + i * w.dilation_h;
    if (at_y < 0 || at_y >= w.height) continue;
    for (int64_t j = 0; j < w.kernel_w; ++j) {
      const int64_t at_x = left + j * w.dilation_w;
      if (at_x >= 0 && at_x < w.width) body(i * w.kernel_w + j, at_y * w.width + at_x);
    }
  }
}

int64_t filters_each(const ops::Window& w, int64_t filters) { return filters / w.channels; }

}  // namespace

void depthwise(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), weight = call.input(1);
  const View<float> y = call.output();
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const bool relu = call.op.conv2d.activation == ops::Activation::relu;
  const int64_t across = w.out_width(), down = w.out_height(), filters = weight.columns;
  const int64_t each = filters_each(w, filters);
  const auto line = [&](int64_t n, int64_t row) {
    float* to = y.row(n) + row * across * filters;
    std::fill_n(to, across * filters, 0.0F);
    for (int64_t column = 0; column < across; ++column)
      for_taps(w, row, column, [&](int64_t e, int64_t pixel) {
        call.loops.channels->to_filters(
            {to + column * filters, x.row(n) + pixel * w.channels, weight.row(e), w.channels, each});
      });
    if (bias != nullptr || relu) call.loops.network->bias_act({to, bias, to, across, filters, filters, filters, relu});
  };
  call.for_rows(x.rows * down, across * filters * w.kernel_h * w.kernel_w, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / down, at % down);
  });
}

// Every pixel adds its windows in ascending order.
void depthwise_grad_input(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> dy = call.input(0), weight = call.input(1);
  const View<float> dx = call.output();
  const int64_t across = w.out_width(), down = w.out_height(), filters = weight.columns;
  const int64_t each = filters_each(w, filters);
  const auto row_of_windows = [&](int64_t n, int64_t window_y, int64_t i, float* sums) {
    for (int64_t window_x = 0; window_x < across; ++window_x)
      for (int64_t j = 0; j < w.kernel_w; ++j) {
        const int64_t x = window_x * w.stride_w - w.pad_w + j * w.dilation_w;
        if (x >= 0 && x < w.width)
          call.loops.channels->to_channels({sums + x * w.channels, dy.row(n) + (window_y * across + window_x) * filters,
                                            weight.row(i * w.kernel_w + j), w.channels, each});
      }
  };
  const auto line = [&](int64_t n, int64_t y) {
    float* sums = dx.row(n) + y * w.width * w.channels;
    std::fill_n(sums, w.width * w.channels, 0.0F);
    for (int64_t i = w.kernel_h - 1; i >= 0; --i) {
      const int64_t top = y + w.pad_h - i * w.dilation_h, window_y = top / w.stride_h;
      if (top >= 0 && top % w.stride_h == 0 && window_y < down) row_of_windows(n, window_y, i, sums);
    }
  };
  call.for_rows(dx.rows * w.height, across * filters * w.kernel_h * w.kernel_w, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / w.height, at % w.height);
  });
}

// Adds the sums of pieces of windows in order: ops::gradient_pieces.
void depthwise_grad_weight(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), dy = call.input(1);
  const View<float> dweight = call.output();
  const int64_t across = w.out_width(), down = w.out_height(), filters = dweight.columns, rows = x.rows * down;
  const int64_t size = w.kernel_h * w.kernel_w * filters, each = filters_each(w, filters);
  const ops::GradientPieces pieces =
      side_by_side(call.op.inputs[1]) ? ops::gradient_pieces(w, x.rows, filters) : ops::GradientPieces{down, x.rows};
  std::vector<float> parts(static_cast<size_t>(pieces.count * size));
  call.parallel_for(static_cast<uint64_t>(pieces.count), [&](uint64_t piece) {
    const int64_t begin = static_cast<int64_t>(piece) * pieces.rows_each;
    float* part = parts.data() + static_cast<int64_t>(piece) * size;
    for (int64_t at = begin; at < std::min(begin + pieces.rows_each, rows); ++at)
      for (int64_t column = 0; column < across; ++column)
        for_taps(w, at % down, column, [&](int64_t e, int64_t pixel) {
          call.loops.channels->to_filters({part + e * filters, x.row(at / down) + pixel * w.channels,
                                           dy.row(at / down) + (at % down * across + column) * filters, w.channels,
                                           each});
        });
  });
  for (int64_t e = 0; e < w.kernel_h * w.kernel_w; ++e) {
    float* to = dweight.row(e);
    std::fill_n(to, filters, 0.0F);
    for (int64_t p = 0; p < pieces.count; ++p)
      call.loops.network->add(to, parts.data() + p * size + e * filters, filters);
  }
}

}  // namespace mokume::host
