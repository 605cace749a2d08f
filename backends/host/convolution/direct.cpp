#include "convolution/direct.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "convolution/patches.hpp"
#include "fast/norm/norm_parts.hpp"
#include "isa/convolution.hpp"
#include "isa/network.hpp"
#include "sdk/ops/conv2d.hpp"

namespace mokume::host {
namespace {

// Copies the first `columns` columns of lines [first, first + lines) of a padded image.
void copy_band(const ops::Window& w, const float* image, int64_t first, int64_t lines, int64_t columns, float* to) {
  const int64_t before = std::min(w.pad_w, columns), inside = std::min(columns - before, w.width);
  for (int64_t y = first; y < first + lines; ++y, to += columns * w.channels) {
    if (y < 0 || y >= w.height) {
      std::fill_n(to, columns * w.channels, 0.0F);
      continue;
    }
    std::fill_n(to, before * w.channels, 0.0F);
    std::copy_n(image + y * w.width * w.channels, inside * w.channels, to + before * w.channels);
    std::fill_n(to + (before + inside) * w.channels, (columns - before - inside) * w.channels, 0.0F);
  }
}

// Returns the matrix with columns of zeros added on the right.
std::vector<float> with_columns(const View<const float>& x, int64_t columns) {
  std::vector<float> wider(static_cast<size_t>(x.rows * columns));
  for (int64_t r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.columns, wider.data() + r * columns);
  return wider;
}

// Returns the number of rows of windows in a band, which must justify a hand-over to another thread.
int64_t rows_of_band(const ops::Window& w, int64_t channels) {
  constexpr int64_t kProducts = 131072, kFloats = 12288;
  const int64_t line = (w.width + 2 * w.pad_w) * w.channels;
  const int64_t by_work = kProducts / (w.out_width() * w.patch() * channels) + 1;
  const int64_t by_memory = (kFloats / line - w.kernel_h) / w.stride_h + 1;
  return std::clamp<int64_t>(std::min(by_work, by_memory), 1, w.out_height());
}

// Calls done(values) with the windows x channels of each row of windows, on the thread that computed the row.
template <class Done>
void convolve_rows(const Call& call, const ops::Window& w, const Done& done) {
  const View<const float> x = call.input(0), weight = call.input(1);
  const View<float> y = call.output();
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  WindowRow row{};
  row.weight = weight.data;
  row.weight_step = weight.stride;
  row.bias = bias;
  row.channels = weight.columns;
  std::vector<float> wider_weight, wider_bias;
  if (const int64_t columns = padded_channels(row.channels); columns != row.channels) {
    wider_weight = with_columns(weight, columns);
    row.weight = wider_weight.data();
    row.weight_step = columns;
    if (bias != nullptr) {
      wider_bias = with_columns({bias, 1, row.channels, row.channels}, columns);
      row.bias = wider_bias.data();
    }
  }
  const int64_t columns = (w.out_width() - 1) * w.stride_w + w.kernel_w, line = columns * w.channels;
  row.x_step = w.stride_w * w.channels;
  row.x_line = line;
  row.windows = w.out_width();
  row.lines = w.kernel_h;
  row.line = w.kernel_w * w.channels;
  row.relu = call.op.conv2d.activation == ops::Activation::relu;

  const int64_t rows_each = rows_of_band(w, row.channels), down = w.out_height();
  const int64_t bands = (down + rows_each - 1) / rows_each;
  const int64_t scratch = ((rows_each - 1) * w.stride_h + w.kernel_h) * line + kMostWindowsMore * row.x_step;
  std::atomic<bool> failed{false};
  const auto band = [&](uint64_t index) {
    const int64_t n = static_cast<int64_t>(index) / bands, first = static_cast<int64_t>(index) % bands * rows_each;
    const int64_t rows = std::min(rows_each, down - first);
    const std::unique_ptr<float[]> lines(new (std::nothrow) float[static_cast<size_t>(scratch)]);
    if (lines == nullptr) {
      failed = true;
      return;
    }
    copy_band(w, x.row(n), first * w.stride_h - w.pad_h, (rows - 1) * w.stride_h + w.kernel_h, columns, lines.get());
    WindowRow here = row;
    for (int64_t r = 0; r < rows; ++r) {
      here.x = lines.get() + r * w.stride_h * line;
      here.out = y.row(n) + (first + r) * row.windows * row.channels;
      call.loops.convolve(here);
      done(View<float>{here.out, row.windows, row.channels, row.channels});
    }
  };
  if (const uint64_t count = static_cast<uint64_t>(x.rows * bands); count == 1)
    band(0);
  else
    call.parallel_for(count, band);
  if (failed) throw Error(MK_OUT_OF_MEMORY, "conv2d: no memory for a band of an image");
}

}  // namespace

bool is_direct(const Call& call, const ops::Window& w) {
  return call.loops.convolve != nullptr && w.groups == 1 && !w.dilated() && call.op.inputs[1].columns > 0;
}

void convolve_directly(const Call& call, const ops::Window& w) {
  convolve_rows(call, w, [](const View<float>&) {});
}

bool convolve_and_normalise(const Call& call, const mk_op& next) {
  constexpr int kPredicts = 5;  // number of inputs of a batch_norm that predicts
  if (call.op.code != MK_OP_CONV2D || next.code != MK_OP_BATCH_NORM || next.n_inputs != kPredicts) return false;
  const ops::Window w = ops::window_of(call.op.conv2d.window);
  const mk_tensor &y = call.op.outputs[0], &x = next.inputs[0], &out = next.outputs[0];
  const int64_t channels = call.op.inputs[1].columns;
  const auto begins_as = [&](const mk_tensor& a) { return a.buffer == y.buffer && a.offset == y.offset; };
  if (!is_direct(call, w) || !side_by_side(y) || !begins_as(x) || !begins_as(out) || x.columns != channels ||
      x.row_stride != channels || out.row_stride != channels || x.rows * channels != y.rows * y.columns)
    return false;
  const Call norm = call.with(next);
  std::vector<float> scale(static_cast<size_t>(channels)), shift(scale.size());
  fast::predicting_scale(norm, scale.data(), shift.data());
  NormRows rows{};
  rows.columns = rows.x_stride = rows.out_stride = channels;
  rows.scale = scale.data();
  rows.shift = shift.data();
  rows.relu = next.bias_act.activation == ops::Activation::relu;
  convolve_rows(call, w, [&](const View<float>& values) {
    NormRows here = rows;
    here.x = here.out = values.data;
    here.rows = values.rows;
    call.loops.network->norm_apply(here);
  });
  return true;
}

}  // namespace mokume::host
