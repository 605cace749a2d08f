#include "convolution/depthwise.hpp"

#include <algorithm>
#include <vector>

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

struct Tap {
  const NetworkLoops& loops;
  int64_t channels, filters, each;  // `each` is the number of filters per channel

  Tap(const Call& call, const ops::Window& w, int64_t columns)
      : loops(*call.loops.network), channels(w.channels), filters(columns), each(columns / w.channels) {}

  // Computes y += weight * x.
  void forward(const float* x, const float* weight, float* y) const {
    if (each == 1) return loops.add_product(y, x, weight, channels);
    for (int64_t c = 0; c < filters; ++c) y[c] += x[c / each] * weight[c];
  }
  // Computes dx += weight * dy.
  void back(const float* dy, const float* weight, float* dx) const {
    if (each == 1) return loops.add_product(dx, dy, weight, channels);
    for (int64_t c = 0; c < filters; ++c) dx[c / each] += dy[c] * weight[c];
  }
};

}  // namespace

void depthwise(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), weight = call.input(1);
  const View<float> y = call.output();
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const bool relu = call.op.conv2d.activation == ops::Activation::relu;
  const int64_t across = w.out_width(), down = w.out_height(), filters = weight.columns;
  const Tap tap(call, w, filters);
  const auto line = [&](int64_t n, int64_t row) {
    float* to = y.row(n) + row * across * filters;
    std::fill_n(to, across * filters, 0.0F);
    for (int64_t column = 0; column < across; ++column)
      for_taps(w, row, column, [&](int64_t e, int64_t pixel) {
        tap.forward(x.row(n) + pixel * w.channels, weight.row(e), to + column * filters);
      });
    if (bias != nullptr || relu) tap.loops.bias_act({to, bias, to, across, filters, filters, filters, relu});
  };
  call.for_rows(x.rows * down, across * filters * w.kernel_h * w.kernel_w, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / down, at % down);
  });
}

// Every pixel adds its windows in the order of fold.cpp.
void depthwise_grad_input(const Call& call) {
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> dy = call.input(0), weight = call.input(1);
  const View<float> dx = call.output();
  const int64_t across = w.out_width(), down = w.out_height(), filters = weight.columns;
  const Tap tap(call, w, filters);
  const auto line = [&](int64_t n, int64_t y) {
    float* sums = dx.row(n) + y * w.width * w.channels;
    std::fill_n(sums, w.width * w.channels, 0.0F);
    for (int64_t i = 0; i < w.kernel_h && i * w.dilation_h <= y + w.pad_h; ++i) {
      const int64_t top = y + w.pad_h - i * w.dilation_h, window_y = top / w.stride_h;
      if (top % w.stride_h != 0 || window_y >= down) continue;
      for (int64_t window_x = across - 1; window_x >= 0; --window_x)
        for (int64_t j = 0; j < w.kernel_w; ++j) {
          const int64_t x = window_x * w.stride_w - w.pad_w + j * w.dilation_w;
          if (x >= 0 && x < w.width)
            tap.back(dy.row(n) + (window_y * across + window_x) * filters, weight.row(i * w.kernel_w + j),
                     sums + x * w.channels);
        }
    }
  };
  call.for_rows(dx.rows * w.height, across * filters * w.kernel_h * w.kernel_w, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / w.height, at % w.height);
  });
}

// Divides the lines of windows into pieces and adds their sums in order. The number of pieces depends only on shapes.
void depthwise_grad_weight(const Call& call) {
  constexpr int64_t kMostPieces = 64, kMostFloats = int64_t{16} << 20;
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const View<const float> x = call.input(0), dy = call.input(1);
  const View<float> dweight = call.output();
  const int64_t across = w.out_width(), down = w.out_height(), filters = dweight.columns, lines = x.rows * down;
  const int64_t size = w.kernel_h * w.kernel_w * filters;
  const int64_t pieces = std::clamp<int64_t>(std::min(kMostPieces, lines), 1, std::max<int64_t>(kMostFloats / size, 1));
  const Tap tap(call, w, filters);
  std::vector<float> parts(static_cast<size_t>(pieces * size));
  call.parallel_for(static_cast<uint64_t>(pieces), [&](uint64_t piece) {
    const auto p = static_cast<int64_t>(piece);
    float* part = parts.data() + p * size;
    for (int64_t at = p * lines / pieces; at < (p + 1) * lines / pieces; ++at)
      for (int64_t column = 0; column < across; ++column)
        for_taps(w, at % down, column, [&](int64_t e, int64_t pixel) {
          tap.forward(x.row(at / down) + pixel * w.channels,
                      dy.row(at / down) + (at % down * across + column) * filters, part + e * filters);
        });
  });
  for (int64_t e = 0; e < w.kernel_h * w.kernel_w; ++e)
    for (int64_t c = 0; c < filters; ++c) {
      double sum = 0;
      for (int64_t p = 0; p < pieces; ++p)
        sum += static_cast<double>(parts[static_cast<size_t>(p * size + e * filters + c)]);
      dweight.row(e)[c] = static_cast<float>(sum);
    }
}

}  // namespace mokume::host
