#include "convolution/direct.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "convolution/filtering.hpp"
#include "convolution/patches.hpp"
#include "fast/norm/norm_parts.hpp"
#include "isa/convolution.hpp"
#include "isa/norm.hpp"

namespace mokume::host {
namespace {

// Returns the matrix with columns of zeros added on the right.
std::vector<float> with_columns(const View<const float>& x, int64_t columns) {
  std::vector<float> wider(static_cast<size_t>(x.rows * columns));
  for (int64_t r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.columns, wider.data() + r * columns);
  return wider;
}

// Holds weights and biases with as many columns as the vectors of the last group read.
struct PaddedWeights {
  View<const float> weight;
  const float* bias;
  std::vector<float> wider_weight, wider_bias;

  explicit PaddedWeights(const Convolution& c) : weight(c.weight), bias(c.bias) {
    const int64_t missing = padded_channels(c.group_filters()) - c.group_filters(), columns = c.filters() + missing;
    if (missing == 0) return;
    wider_weight = with_columns(c.weight, columns);
    weight = {wider_weight.data(), c.weight.rows, columns, columns};
    if (bias == nullptr) return;
    wider_bias = with_columns({c.bias, 1, c.filters(), c.filters()}, columns);
    bias = wider_bias.data();
  }
  PaddedWeights(const PaddedWeights&) = delete;
  PaddedWeights& operator=(const PaddedWeights&) = delete;
};

// Divides the rows of windows evenly into bands, each of which must justify a hand-over to another thread.
struct Bands {
  int64_t columns, line;  // columns of pixels under the windows, and their floats
  int64_t rows_each, count;

  explicit Bands(const Convolution& c) {
    constexpr int64_t kProducts = 131072, kFloats = 12288;
    const ops::Window& w = c.window;
    columns = (w.out_width() - 1) * w.stride_w + w.extent_w();
    line = columns * w.group_channels();
    const int64_t by_work = kProducts / (w.out_width() * w.patch() * c.group_filters()) + 1;
    const int64_t by_memory = (kFloats / line - w.extent_h()) / w.stride_h + 1;
    const int64_t most = std::clamp<int64_t>(std::min(by_work, by_memory), 1, w.out_height());
    count = (w.out_height() + most - 1) / most;
    rows_each = (w.out_height() + count - 1) / count;
    count = (w.out_height() + rows_each - 1) / rows_each;
  }
};

// Describes the distances within the windows of a band.
WindowRow row_of(const ops::Window& w, const Band& band) {
  const int64_t channels = w.group_channels();
  WindowRow row{};
  row.x_step = w.stride_w * channels;
  row.x_next = 1;
  row.windows = w.out_width();
  if (w.dilated()) {
    row.x_plane = w.dilation_h * band.line;
    row.x_line = w.dilation_w * channels;
    row.lines = w.kernel_w;
    row.line = channels;
  } else {
    row.x_line = band.line;
    row.line = w.kernel_w * channels;
  }
  return row;
}

// Computes the rows of windows of a group from row `first` on.
void convolve_band(const Call& call, const Convolution& c, const PaddedWeights& weights, const Bands& bands,
                   int64_t image, int64_t group, int64_t first, float* lines) {
  const ops::Window& w = c.window;
  const int64_t channels = w.group_channels(), filter = group * c.group_filters();
  const int64_t rows = std::min(bands.rows_each, w.out_height() - first);
  const Band band = band_of(w, c.x.row(image), group, first * w.stride_h - w.pad_h,
                            (rows - 1) * w.stride_h + w.extent_h(), bands.columns, lines);
  WindowRow row = row_of(w, band);
  row.weight_step = weights.weight.stride;
  row.weight_plane = w.kernel_w * channels * row.weight_step;
  row.bias = weights.bias == nullptr ? nullptr : weights.bias + filter;
  row.relu = c.relu;
  row.out_step = c.y_step;
  row.channels = c.group_filters();
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t top = (first + r) * w.stride_h - w.pad_h, more = w.dilation_h - 1;
    // The lines before are padding, and so are those after the image.
    const int64_t begin = std::clamp<int64_t>((more - top) / w.dilation_h, 0, w.kernel_h);
    const int64_t count = std::clamp<int64_t>((w.height - top + more) / w.dilation_h, begin, w.kernel_h) - begin;
    (w.dilated() ? row.planes : row.lines) = count;
    row.x = band.pixels + (r * w.stride_h + begin * w.dilation_h) * band.line;
    row.weight = weights.weight.data + begin * row.weight_plane + filter;
    row.out = c.y.row(image) + (first + r) * c.y_line + filter;
    call.loops.convolve(row);
    if (c.norm != nullptr) normalise(call, *c.norm, row.out, row.windows);
  }
}

}  // namespace

Band band_of(const ops::Window& w, const float* image, int64_t group, int64_t first, int64_t lines, int64_t columns,
             float* memory) {
  const int64_t channels = w.group_channels(), skipped = std::max<int64_t>(0, -w.pad_w);
  const int64_t before = std::clamp<int64_t>(w.pad_w, 0, columns);
  const int64_t inside = std::clamp<int64_t>(w.width - skipped, 0, columns - before), after = columns - before - inside;
  const float* corner = image + skipped * w.channels + group * channels;
  const int64_t step = w.width * w.channels;
  if (w.groups == 1 && inside == columns && first >= 0 && first + lines <= w.height)
    return {corner + first * step, step};
  float* to = memory;
  for (int64_t y = first; y < first + lines; ++y) {
    if (y < 0 || y >= w.height) {
      to = std::fill_n(to, columns * channels, 0.0F);
      continue;
    }
    const float* from = corner + y * step;
    to = std::fill_n(to, before * channels, 0.0F);
    if (w.groups == 1)
      to = std::copy_n(from, inside * channels, to);
    else
      for (int64_t x = 0; x < inside; ++x) to = std::copy_n(from + x * w.channels, channels, to);
    to = std::fill_n(to, after * channels, 0.0F);
  }
  return {memory, columns * channels};
}

void convolve_directly(const Call& call, const Convolution& c) {
  const PaddedWeights weights(c);
  const Bands bands(c);
  const ops::Window& w = c.window;
  const int64_t scratch = ((bands.rows_each - 1) * w.stride_h + w.extent_h()) * bands.line;
  std::atomic<bool> failed{false};
  const auto band = [&](uint64_t index) {
    const auto at = static_cast<int64_t>(index), part = at / w.groups;
    if (const Scratch lines = scratch_of(scratch))
      convolve_band(call, c, weights, bands, part / bands.count, at % w.groups, part % bands.count * bands.rows_each,
                    lines.get());
    else
      failed = true;
  };
  if (const uint64_t count = static_cast<uint64_t>(c.x.rows * bands.count * w.groups); count == 1)
    band(0);
  else
    call.parallel_for(count, band);
  if (failed) throw Error(MK_OUT_OF_MEMORY, "conv2d: no memory for a band of an image");
}

void normalise(const Call& call, const NormRows& norm, float* pixels, int64_t count) {
  NormRows here = norm;
  here.x = here.out = pixels;
  here.rows = count;
  call.loops.norm->apply(here);
}

bool is_without_patches(const Call& call, int64_t filters) { return is_direct(call) && filters > 0; }

void convolve_without_patches(const Call& call, const Convolution& c) {
  if (is_filtered(call, c)) return convolve_by_filtering(call, c);
  convolve_directly(call, c);
}

bool convolve_and_normalise(const Call& call, const mk_op& next) {
  constexpr int kPredicts = 5;  // number of inputs of a batch_norm that predicts
  if (call.op.code != MK_OP_CONV2D || next.code != MK_OP_BATCH_NORM || next.n_inputs != kPredicts) return false;
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const mk_tensor &y = call.op.outputs[0], &x = next.inputs[0], &out = next.outputs[0];
  const int64_t channels = call.op.inputs[1].columns;
  const auto begins_as = [&](const mk_tensor& a) { return a.buffer == y.buffer && a.offset == y.offset; };
  if (w.groups > 1 || !is_without_patches(call, channels) || !side_by_side(y) || !begins_as(x) || !begins_as(out) ||
      x.columns != channels || x.row_stride != channels || out.row_stride != channels ||
      x.rows * channels != y.rows * y.columns)
    return false;
  const Call norm = call.with(next);
  std::vector<float> scale(static_cast<size_t>(channels)), shift(scale.size());
  fast::predicting_scale(norm, scale.data(), shift.data());
  NormRows rows{};
  rows.columns = rows.x_stride = rows.out_stride = channels;
  rows.scale = scale.data();
  rows.shift = shift.data();
  rows.relu = next.bias_act.activation == ops::Activation::relu;
  Convolution convolution = convolution_of(call);
  convolution.norm = &rows;
  convolve_without_patches(call, convolution);
  return true;
}

}  // namespace mokume::host
