#include "convolution/gradients.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "convolution/convolution.hpp"
#include "convolution/direct.hpp"
#include "isa/convolution.hpp"
#include "isa/network.hpp"

namespace mokume::host {
namespace {

// Describes the pixels of dx along one side whose distance from the first padding pixel is `phase` more than a multiple
// of the stride. Only every stride-th weight from `phase` on reaches them, and no pixel of dy between two windows.
struct Phase {
  int64_t first;   // the first pixel
  int64_t pixels;  // they are `stride` apart
  int64_t weights, pad;

  Phase(int64_t side, int64_t kernel, int64_t stride, int64_t padding, int64_t phase)
      : first((phase - padding % stride + stride) % stride),
        pixels(first < side ? (side - first + stride - 1) / stride : 0),
        weights(phase < kernel ? (kernel - phase + stride - 1) / stride : 0),
        pad(weights - 1 - (first + padding - phase) / stride) {}
};

// Returns the weights of two phases with their pixels turned and their channels and filters exchanged.
std::vector<float> turned_weights(const ops::Window& w, const View<const float>& weight, const Phase& down,
                                  const Phase& across, int64_t phase_h, int64_t phase_w) {
  const int64_t channels = w.group_channels(), filters = weight.columns / w.groups;
  std::vector<float> turned(static_cast<size_t>(down.weights * across.weights * filters * w.channels));
  for (int64_t i = 0; i < down.weights; ++i)
    for (int64_t j = 0; j < across.weights; ++j) {
      const int64_t from_i = phase_h + (down.weights - 1 - i) * w.stride_h;
      const int64_t from_j = phase_w + (across.weights - 1 - j) * w.stride_w;
      float* to = turned.data() + (i * across.weights + j) * filters * w.channels;
      for (int64_t c = 0; c < w.channels; ++c) {
        const int64_t group = c / channels, row = (from_i * w.kernel_w + from_j) * channels + c % channels;
        const float* from = weight.row(row) + group * filters;
        for (int64_t f = 0; f < filters; ++f) to[f * w.channels + c] = from[f];
      }
    }
  return turned;
}

void phase_of_input(const Call& call, const ops::Window& w, int64_t phase_h, int64_t phase_w) {
  const View<const float> dy = call.input(0), weight = call.input(1);
  const View<float> dx = call.output();
  const Phase down(w.height, w.kernel_h, w.stride_h, w.pad_h, phase_h);
  const Phase across(w.width, w.kernel_w, w.stride_w, w.pad_w, phase_w);
  if (down.pixels == 0 || across.pixels == 0) return;
  const int64_t corner = (down.first * w.width + across.first) * w.channels;
  ops::Window back = w;
  back.height = w.out_height();
  back.width = w.out_width();
  back.channels = weight.columns;
  back.kernel_h = down.weights;
  back.kernel_w = across.weights;
  back.stride_h = back.stride_w = 1;
  back.pad_h = down.pad;
  back.pad_w = across.pad;
  back.more_h = down.pixels - 1 + down.weights - back.height - 2 * down.pad;
  back.more_w = across.pixels - 1 + across.weights - back.width - 2 * across.pad;
  const std::vector<float> turned = turned_weights(w, weight, down, across, phase_h, phase_w);
  const int64_t rows = down.weights * across.weights * (weight.columns / w.groups);
  convolve_without_patches(call, {.window = back,
                                  .x = dy,
                                  .weight = {turned.data(), rows, w.channels, w.channels},
                                  .bias = nullptr,
                                  .relu = false,
                                  .y = {dx.data + corner, dx.rows, dx.columns - corner, dx.stride},
                                  .y_step = w.stride_w * w.channels,
                                  .y_line = w.stride_h * w.width * w.channels});
}

// Divides the rows of windows of all images into pieces, whose sums are added in order. Their number depends only on
// shapes. The rows of a piece pass in bands of a few rows of an image.
struct WeightPieces {
  static constexpr int64_t kMost = 64, kWindows = 256, kFloats = 65536, kMostFloats = int64_t{16} << 20;
  int64_t columns, line, rows, count, size, rows_each;

  WeightPieces(const ops::Window& w, int64_t images, int64_t filters)
      : columns((w.out_width() - 1) * w.stride_w + w.kernel_w),
        line(columns * w.group_channels()),
        rows(images * w.out_height()),
        size(w.patch() * filters) {
    const int64_t most = std::min({kMost, rows, rows * w.out_width() / kWindows, kMostFloats / size});
    count = std::max<int64_t>(most, 1);
    const int64_t of_row = w.stride_h * line + w.out_width() * filters;
    rows_each = std::clamp<int64_t>((kFloats - w.kernel_h * line) / of_row, 1, w.out_height());
  }
  int64_t scratch(const ops::Window& w) const { return ((rows_each - 1) * w.stride_h + w.kernel_h) * line; }
};

struct RowsOfWindows {
  int64_t image, first, count;
};

// Adds the products of some rows of windows to the gradient `to`, or replaces it. `lines` is memory for the band.
void add_band(const Call& call, const ops::Window& w, const WeightPieces& pieces, const RowsOfWindows& rows,
              float* lines, bool add, float* to) {
  const View<const float> x = call.input(0), dy = call.input(1);
  const int64_t filters = call.op.outputs[0].columns, each = filters / w.groups, channels = w.group_channels();
  for (int64_t g = 0; g < w.groups; ++g) {
    const Band band = band_of(w, x.row(rows.image), g, rows.first * w.stride_h - w.pad_h,
                              (rows.count - 1) * w.stride_h + w.kernel_h, pieces.columns, lines);
    WindowRow row{};
    row.x_step = 1;
    row.x_line = w.stride_h * band.line;
    row.x_next = w.stride_w * channels;
    row.windows = w.kernel_w * channels;
    row.lines = rows.count;
    row.line = w.out_width();
    row.weight = dy.row(rows.image) + rows.first * w.out_width() * filters + g * each;
    row.weight_step = row.out_step = filters;
    row.channels = each;
    row.add = add;
    for (int64_t i = 0; i < w.kernel_h; ++i) {
      row.x = band.pixels + i * band.line;
      row.out = to + i * row.windows * filters + g * each;
      call.loops.convolve(row);
    }
  }
}

}  // namespace

// A kernel that is smaller than the stride leaves pixels without any weight, which is no convolution. Channels and
// filters must fill vectors.
bool grad_input_without_patches(const Call& call, const ops::Window& w) {
  constexpr int64_t kFewest = 8;
  if (!is_direct(call, w) || w.kernel_h < w.stride_h || w.kernel_w < w.stride_w || w.group_channels() < kFewest)
    return false;
  for (int64_t h = 0; h < w.stride_h; ++h)
    for (int64_t v = 0; v < w.stride_w; ++v) phase_of_input(call, w, h, v);
  return true;
}

// Rows of dy cannot be padded, so the filters of a group must fill a vector.
bool grad_weight_without_patches(const Call& call, const ops::Window& w) {
  constexpr int64_t kFewest = 8;
  const View<const float> x = call.input(0);
  const View<float> dweight = call.output();
  if (!is_direct(call, w) || dweight.columns / w.groups < kFewest || x.rows == 0) return false;
  const WeightPieces pieces(w, x.rows, dweight.columns);
  const Scratch sums = scratch_of(pieces.count * pieces.size);
  std::atomic<bool> failed{sums == nullptr};
  call.parallel_for(static_cast<uint64_t>(pieces.count), [&](uint64_t index) {
    const auto p = static_cast<int64_t>(index), down = w.out_height();
    const Scratch lines = scratch_of(pieces.scratch(w));
    if (lines == nullptr || sums == nullptr) {
      failed = true;
      return;
    }
    const int64_t begin = p * pieces.rows / pieces.count, end = (p + 1) * pieces.rows / pieces.count;
    for (int64_t at = begin, next = begin; at < end; at = next) {
      next = std::min({end, at + pieces.rows_each, (at / down + 1) * down});
      add_band(call, w, pieces, {at / down, at % down, next - at}, lines.get(), at != begin,
               sums.get() + p * pieces.size);
    }
  });
  if (failed) throw Error(MK_OUT_OF_MEMORY, "conv2d_grad_weight: no memory for a band of an image");
  call.for_rows(dweight.rows, pieces.count * dweight.columns, [&](int64_t from, int64_t to) {
    const int64_t n = dweight.columns;
    for (int64_t r = from; r < to; ++r) {
      std::copy_n(sums.get() + r * n, n, dweight.row(r));
      for (int64_t p = 1; p < pieces.count; ++p)
        call.loops.network->add(dweight.row(r), sums.get() + p * pieces.size + r * n, n);
    }
  });
  return true;
}

}  // namespace mokume::host
