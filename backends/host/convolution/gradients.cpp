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
std::vector<float> turned_weights(const Call& call, const ops::Window& w, const View<const float>& weight,
                                  const Phase& down, const Phase& across, int64_t phase_h, int64_t phase_w) {
  constexpr int64_t kBlock = 16;  // a block of both sides stays in the cache
  const int64_t channels = w.group_channels(), filters = weight.columns / w.groups,
                pixels = down.weights * across.weights;
  std::vector<float> turned(static_cast<size_t>(pixels * filters * w.channels));
  call.for_rows(pixels, filters * w.channels, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t from_i = phase_h + (down.weights - 1 - pixel / across.weights) * w.stride_h;
      const int64_t from_j = phase_w + (across.weights - 1 - pixel % across.weights) * w.stride_w;
      const int64_t first = (from_i * w.kernel_w + from_j) * channels;
      float* const to = turned.data() + pixel * filters * w.channels;
      for (int64_t f0 = 0; f0 < filters; f0 += kBlock)
        for (int64_t c = 0; c < w.channels; ++c) {
          const float* from = weight.row(first + c % channels) + c / channels * filters;
          for (int64_t f = f0; f < std::min(f0 + kBlock, filters); ++f) to[f * w.channels + c] = from[f];
        }
    }
  });
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
  const std::vector<float> turned = turned_weights(call, w, weight, down, across, phase_h, phase_w);
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

// Divides the windows of all images into pieces, whose sums are added in order. Their number depends only on shapes.
// The windows of a piece pass in bands: some rows of an image, or some whole images.
struct WeightPieces {
  static constexpr int64_t kMost = 64, kWindows = 256, kFloats = 65536, kMostFloats = int64_t{16} << 20;
  int64_t columns, line, units, unit, count, size, rows_each, images_each, image;

  WeightPieces(const ops::Window& w, int64_t images, int64_t filters)
      : columns((w.out_width() - 1) * w.stride_w + w.kernel_w),
        line(columns * w.group_channels()),
        size(w.patch() * filters) {
    const int64_t down = w.out_height(), of_row = w.stride_h * line + w.out_width() * filters;
    rows_each = std::clamp<int64_t>((kFloats - w.kernel_h * line) / of_row, 1, down);
    image = ((rows_each - 1) * w.stride_h + w.kernel_h) * line;
    images_each = rows_each == down ? std::max<int64_t>(1, kFloats / (w.kernel_h * line + down * of_row)) : 1;
    unit = rows_each == down ? down : 1;
    units = images * down / unit;
    const int64_t most = std::min({kMost, units, units * unit * w.out_width() / kWindows, kMostFloats / size});
    count = std::max<int64_t>(most, 1);
  }
  int64_t begin(int64_t piece) const { return piece * units / count * unit; }  // the first row of windows
  // Returns the parts of a window's lines that threads compute apart, so that few pieces keep all cores busy.
  int64_t shares(const ops::Window& w) const { return count < kMost / 4 ? w.kernel_h : 1; }
};

struct RowsOfWindows {
  int64_t image, images, first, count;
};

// Selects lines of the windows.
struct Lines {
  int64_t begin, end;
};

// Adds the products of some rows of windows to the gradient `to`, or replaces it. `lines` is memory for the band.
void add_band(const Call& call, const ops::Window& w, const WeightPieces& pieces, const RowsOfWindows& rows,
              const Lines& some, float* lines, bool add, float* to) {
  const View<const float> x = call.input(0), dy = call.input(1);
  const int64_t filters = call.op.outputs[0].columns, each = filters / w.groups, channels = w.group_channels();
  const int64_t top = rows.first * w.stride_h - w.pad_h;
  for (int64_t g = 0; g < w.groups; ++g) {
    const auto copied = [&](int64_t k) {
      return band_of(w, x.row(rows.image + k), g, top, (rows.count - 1) * w.stride_h + w.kernel_h, pieces.columns,
                     lines + k * pieces.image);
    };
    const Band band = copied(0);
    for (int64_t k = 1; k < rows.images; ++k) copied(k);
    WindowRow row{};
    row.x_step = 1;
    row.x_line = w.stride_h * band.line;
    row.x_next = w.stride_w * channels;
    row.windows = w.kernel_w * channels;
    row.line = w.out_width();
    row.planes = rows.images;
    row.x_plane = band.pixels == lines ? pieces.image : x.stride;
    row.weight_plane = dy.stride;
    row.weight_step = row.out_step = filters;
    row.channels = each;
    row.add = add;
    for (int64_t i = some.begin; i < some.end; ++i) {
      // Other rows of windows have padding here.
      const int64_t from = std::clamp<int64_t>((w.stride_h - 1 - top - i) / w.stride_h, 0, rows.count);
      const int64_t end = w.height - top - i + w.stride_h - 1;
      row.lines = std::clamp<int64_t>(end < 0 ? 0 : end / w.stride_h, from, rows.count) - from;
      row.x = band.pixels + (from * w.stride_h + i) * band.line;
      row.weight = dy.row(rows.image) + (rows.first + from) * w.out_width() * filters + g * each;
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
  const int64_t shares = pieces.shares(w);
  call.parallel_for(static_cast<uint64_t>(pieces.count * shares), [&](uint64_t index) {
    const auto item = static_cast<int64_t>(index);
    const int64_t p = item / shares, share = item % shares, down = w.out_height();
    const Lines some{share * w.kernel_h / shares, (share + 1) * w.kernel_h / shares};
    const Scratch lines = scratch_of(pieces.images_each * pieces.image);
    if (lines == nullptr || sums == nullptr) {
      failed = true;
      return;
    }
    const int64_t begin = pieces.begin(p), end = pieces.begin(p + 1);
    for (int64_t at = begin, next = begin; at < end; at = next) {
      const int64_t images = std::max<int64_t>(1, std::min(pieces.images_each, (end - at) / down));
      next = images > 1 ? at + images * down : std::min({end, at + pieces.rows_each, (at / down + 1) * down});
      add_band(call, w, pieces, {at / down, images, at % down, (next - at) / images}, some, lines.get(), at != begin,
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
