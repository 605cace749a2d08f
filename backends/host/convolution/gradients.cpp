#include "convolution/gradients.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "convolution/convolution.hpp"
#include "convolution/direct.hpp"
#include "convolution/patches.hpp"
#include "isa/convolution.hpp"
#include "isa/network.hpp"

namespace mokume::host {
namespace {

// Describes the pixels of dx along one side whose distance from the first padding pixel is `phase` more than a multiple
// of the stride. Only some weights reach them: those from `weight` on, `weight_step` apart.
struct Phase {
  int64_t first;   // the first pixel
  int64_t pixels;  // they are `stride` apart
  int64_t weight, weight_step, weights;
  int64_t dilation, pad;  // a convolution of dy with these weights has this dilation and padding

  Phase(int64_t side, int64_t kernel, int64_t stride, int64_t dilated, int64_t padding, int64_t phase)
      : first((phase - padding % stride + stride) % stride),
        pixels(first < side ? (side - first + stride - 1) / stride : 0),
        weight(0),
        weight_step(stride / std::gcd(stride, dilated)),
        dilation(dilated / std::gcd(stride, dilated)) {
    while (weight < weight_step && weight * dilated % stride != phase) ++weight;
    weights = weight < std::min(kernel, weight_step) ? (kernel - weight + weight_step - 1) / weight_step : 0;
    pad = (weights - 1) * dilation - (first + padding - weight * dilated) / stride;
  }
  int64_t extent() const { return (weights - 1) * dilation + 1; }
};

// Returns the weights of two phases with their pixels turned and their channels and filters exchanged.
std::vector<float> turned_weights(const Call& call, const ops::Window& w, const View<const float>& weight,
                                  const Phase& down, const Phase& across) {
  constexpr int64_t kBlock = 16;  // a block of both sides stays in the cache
  const int64_t channels = w.group_channels(), filters = weight.columns / w.groups,
                pixels = down.weights * across.weights;
  std::vector<float> turned(static_cast<size_t>(pixels * filters * w.channels));
  call.for_rows(pixels, filters * w.channels, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t from_i = down.weight + (down.weights - 1 - pixel / across.weights) * down.weight_step;
      const int64_t from_j = across.weight + (across.weights - 1 - pixel % across.weights) * across.weight_step;
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
  const Phase down(w.height, w.kernel_h, w.stride_h, w.dilation_h, w.pad_h, phase_h);
  const Phase across(w.width, w.kernel_w, w.stride_w, w.dilation_w, w.pad_w, phase_w);
  if (down.pixels == 0 || across.pixels == 0 || down.weights == 0 || across.weights == 0) return;
  const int64_t corner = (down.first * w.width + across.first) * w.channels;
  ops::Window back = w;
  back.height = w.out_height();
  back.width = w.out_width();
  back.channels = weight.columns;
  back.kernel_h = down.weights;
  back.kernel_w = across.weights;
  back.stride_h = back.stride_w = 1;
  back.dilation_h = down.dilation;
  back.dilation_w = across.dilation;
  back.pad_h = down.pad;
  back.pad_w = across.pad;
  back.more_h = down.pixels - 1 + down.extent() - back.height - 2 * down.pad;
  back.more_w = across.pixels - 1 + across.extent() - back.width - 2 * across.pad;
  const std::vector<float> turned = turned_weights(call, w, weight, down, across);
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

// Describes the pieces of the sums (ops::gradient_pieces) and the bands in which the windows of a piece pass: some rows
// of an image, or some whole images.
struct WeightPieces {
  static constexpr int64_t kFew = 16, kFloats = 65536;
  ops::GradientPieces pieces;
  int64_t columns, line, size, rows_each, images_each, image;

  WeightPieces(const ops::Window& w, int64_t images, int64_t filters, bool dense)
      : pieces(dense ? ops::gradient_pieces(w, images, filters) : ops::GradientPieces{w.out_height(), images}),
        columns((w.out_width() - 1) * w.stride_w + w.extent_w()),
        line(columns * w.group_channels()),
        size(w.patch() * filters) {
    const int64_t down = w.out_height(), of_row = w.stride_h * line + w.out_width() * filters;
    rows_each = std::clamp<int64_t>((kFloats - w.extent_h() * line) / of_row, 1, down);
    image = ((rows_each - 1) * w.stride_h + w.extent_h()) * line;
    images_each = rows_each == down ? std::max<int64_t>(1, kFloats / (w.extent_h() * line + down * of_row)) : 1;
  }
  // Returns the parts of a window's lines that threads compute apart, so that few pieces keep all cores busy.
  int64_t shares(const ops::Window& w) const { return pieces.count < kFew ? w.kernel_h : 1; }
  // Returns the pieces whose sums are in memory at once.
  int64_t at_once() const { return std::min(pieces.count, std::clamp<int64_t>((int64_t{1} << 24) / size, 1, 64)); }
};

struct RowsOfWindows {
  int64_t image, images, first, count;
};

// Selects lines of the windows.
struct Lines {
  int64_t begin, end;
};

// Holds the gradients of the outputs of some rows of windows for the filters of a group. If these are fewer than a
// vector reads, they are copied to `memory`.
struct RowsOfGradients {
  const float* data;
  int64_t step, plane;  // the distances between windows and between images

  RowsOfGradients(const ops::Window& w, const View<const float>& dy, int64_t filters, int64_t group,
                  const RowsOfWindows& rows, float* memory)
      : data(dy.row(rows.image) + rows.first * w.out_width() * filters), step(filters), plane(dy.stride) {
    const int64_t each = filters / w.groups, padded = padded_channels(each), windows = rows.count * w.out_width();
    data += group * each;
    if (padded == each) return;
    for (int64_t k = 0; k < rows.images; ++k)
      for (int64_t i = 0; i < windows; ++i)
        std::fill_n(std::copy_n(data + k * plane + i * step, each, memory + (k * windows + i) * padded), padded - each,
                    0.0F);
    data = memory;
    step = padded;
    plane = windows * padded;
  }
  static int64_t memory(const ops::Window& w, int64_t filters, const WeightPieces& p) {
    const int64_t each = filters / w.groups, padded = padded_channels(each);
    return padded == each ? 0 : p.images_each * p.rows_each * w.out_width() * padded;
  }
};

// Adds the products of some rows of windows to the gradient `to`, or replaces it. `lines` is memory for the band and
// RowsOfGradients.
void add_band(const Call& call, const ops::Window& w, const WeightPieces& pieces, const RowsOfWindows& rows,
              const Lines& some, float* lines, bool add, float* to) {
  const View<const float> x = call.input(0), dy = call.input(1);
  const int64_t filters = call.op.outputs[0].columns, each = filters / w.groups, channels = w.group_channels();
  const int64_t top = rows.first * w.stride_h - w.pad_h;
  // Pixels of a dilated window are not adjacent.
  const int64_t parts = w.dilation_w > 1 ? w.kernel_w : 1, of_part = w.kernel_w * channels / parts;
  for (int64_t g = 0; g < w.groups; ++g) {
    const auto copied = [&](int64_t k) {
      return band_of(w, x.row(rows.image + k), g, top, (rows.count - 1) * w.stride_h + w.extent_h(), pieces.columns,
                     lines + k * pieces.image);
    };
    const Band band = copied(0);
    for (int64_t k = 1; k < rows.images; ++k) copied(k);
    const RowsOfGradients gradients(w, dy, filters, g, rows, lines + pieces.images_each * pieces.image);
    WindowRow row{};
    row.x_step = 1;
    row.x_line = w.stride_h * band.line;
    row.x_next = w.stride_w * channels;
    row.windows = of_part;
    row.line = w.out_width();
    row.planes = rows.images;
    row.x_plane = band.pixels == lines ? pieces.image : x.stride;
    row.weight_plane = gradients.plane;
    row.weight_step = gradients.step;
    row.out_step = filters;
    row.channels = each;
    row.add = add;
    for (int64_t part = some.begin * parts; part < some.end * parts; ++part) {
      const int64_t line = part / parts * w.dilation_h, column = part % parts * w.dilation_w * channels;
      // Other rows of windows have padding here.
      const int64_t from = std::clamp<int64_t>((w.stride_h - 1 - top - line) / w.stride_h, 0, rows.count);
      const int64_t end = w.height - top - line + w.stride_h - 1;
      row.lines = std::clamp<int64_t>(end < 0 ? 0 : end / w.stride_h, from, rows.count) - from;
      row.x = band.pixels + (from * w.stride_h + line) * band.line + column;
      row.weight = gradients.data + from * w.out_width() * gradients.step;
      row.out = to + part * of_part * filters + g * each;
      call.loops.convolve(row);
    }
  }
}

// Computes the sums of pieces [first, first + count). Returns false if there is no memory.
bool sum_pieces(const Call& call, const ops::Window& w, const WeightPieces& p, int64_t first, int64_t count,
                float* sums) {
  const int64_t shares = p.shares(w), down = w.out_height(), all = call.input(0).rows * down,
                filters = call.op.outputs[0].columns;
  std::atomic<bool> failed{false};
  call.parallel_for(static_cast<uint64_t>(count * shares), [&](uint64_t index) {
    const auto item = static_cast<int64_t>(index);
    const int64_t piece = item / shares, share = item % shares, begin = (first + piece) * p.pieces.rows_each,
                  end = std::min(begin + p.pieces.rows_each, all);
    const Lines some{share * w.kernel_h / shares, (share + 1) * w.kernel_h / shares};
    const Scratch lines = scratch_of(p.images_each * p.image + RowsOfGradients::memory(w, filters, p));
    if (lines == nullptr) {
      failed = true;
      return;
    }
    for (int64_t at = begin, next = begin; at < end; at = next) {
      const int64_t whole = at % down == 0 ? (end - at) / down : 0,
                    images = std::clamp<int64_t>(whole, 1, p.images_each);
      next = images > 1 ? at + images * down : std::min({end, at + p.rows_each, (at / down + 1) * down});
      add_band(call, w, p, {at / down, images, at % down, (next - at) / images}, some, lines.get(), at != begin,
               sums + piece * p.size);
    }
  });
  return !failed;
}

}  // namespace

// Pixels that no weight reaches, as between small windows, are zeros.
bool grad_input_without_patches(const Call& call, const ops::Window& w) {
  if (!is_direct(call)) return false;
  const bool sparse = w.kernel_h < w.stride_h || w.kernel_w < w.stride_w || w.dilated();
  const View<float> dx = call.output();
  if (sparse)
    call.for_rows(dx.rows, dx.columns, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) std::fill_n(dx.row(r), dx.columns, 0.0F);
    });
  for (int64_t h = 0; h < w.stride_h; ++h)
    for (int64_t v = 0; v < w.stride_w; ++v) phase_of_input(call, w, h, v);
  return true;
}

bool grad_weight_without_patches(const Call& call, const ops::Window& w) {
  const View<const float> x = call.input(0);
  const View<float> dweight = call.output();
  const int64_t n = dweight.columns;
  if (!is_direct(call) || x.rows == 0 || n == 0) return false;
  const WeightPieces pieces(w, x.rows, n, side_by_side(call.op.inputs[1]));
  const int64_t at_once = pieces.at_once();
  const Scratch sums = scratch_of(at_once * pieces.size);
  for (int64_t first = 0; first < pieces.pieces.count; first += at_once) {
    const int64_t count = std::min(at_once, pieces.pieces.count - first);
    if (sums == nullptr || !sum_pieces(call, w, pieces, first, count, sums.get()))
      throw Error(MK_OUT_OF_MEMORY, "conv2d_grad_weight: no memory for a band of an image");
    call.for_rows(dweight.rows, count * n, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        for (int64_t p = 0; p < count; ++p) {
          const float* sum = sums.get() + p * pieces.size + r * n;
          if (first == 0 && p == 0)
            std::copy_n(sum, n, dweight.row(r));
          else
            call.loops.network->add(dweight.row(r), sum, n);
        }
    });
  }
  return true;
}

}  // namespace mokume::host
