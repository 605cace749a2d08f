// Converts convolutions and pools.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "import/graph.hpp"
#include "sdk/error.hpp"
#include "sdk/ops/avg_pool.hpp"

namespace mokume::cnn::onnx {
namespace {

constexpr int64_t kMost = 1024;  // limit for the keys of windows

int64_t extent(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

// Returns the number of windows as PyTorch counts them.
int64_t places(int64_t size, int64_t padding, int64_t kernel, int64_t stride) {
  return size + padding < kernel ? 0 : (size + padding - kernel) / stride + 1;
}

void put(nlohmann::ordered_json& keys, const char* name, int64_t value, int64_t fallback) {
  if (value != fallback) keys[name] = value;
}

// Returns whether a matrix averages the areas into which an adaptive pool divides a side of `size` pixels. The matrix
// has a row for each cell if it is the left factor of a product, otherwise a column.
bool averages_areas(const Tensor& t, int64_t size, int64_t cells, bool left) {
  for (int64_t cell = 0; cell < cells; ++cell)
    for (int64_t i = 0; i < size; ++i) {
      const int64_t begin = ops::avg_pool_begin(cell, size, cells), end = ops::avg_pool_end(cell, size, cells);
      const double wanted = i >= begin && i < end ? double(1.0F / float(end - begin)) : 0;
      if (t.real(size_t(left ? cell * size + i : i * cells + cell)) != wanted) return false;
    }
  return true;
}

}  // namespace

bool Graph::Window::is_below_kernel() const {
  return std::max(top, bottom) < extent(kernel_h, dilation_h) && std::max(left, right) < extent(kernel_w, dilation_w);
}

bool Graph::Window::is_same() const {
  const auto fits = [](int64_t before, int64_t after, int64_t reach) {
    return before == (reach - 1) / 2 && after == reach - 1 - before;
  };
  return stride_h == 1 && stride_w == 1 && fits(top, bottom, extent(kernel_h, dilation_h)) &&
         fits(left, right, extent(kernel_w, dilation_w));
}

// Makes the padding of all sides equal and smaller than the kernel, and dilations 1: zeros around the kernel's numbers
// replace the padding, and zeros between them the dilation. `below` and `beside` are further zeros at the ends.
Weight Graph::even_out(const Node& node, Window& w, Weight weight, int64_t below, int64_t beside) {
  const int64_t high = extent(w.kernel_h, w.dilation_h), wide = extent(w.kernel_w, w.dilation_w);
  const int64_t pad_h = std::max({w.top, w.bottom, w.top + w.bottom - high + 1}),
                pad_w = std::max({w.left, w.right, w.left + w.right - wide + 1});
  const int64_t height = high + 2 * pad_h - w.top - w.bottom + below,
                width = wide + 2 * pad_w - w.left - w.right + beside;
  constexpr int64_t kMostGrowth = 64;
  const int64_t kernels = weight.shape[0] * weight.shape[1], area = w.kernel_h * w.kernel_w;
  if (height > kMost || width > kMost || height * width > kMostGrowth * area)
    unsupported(node, "has padding or dilations that would need a far larger window in mokume");
  std::vector<float> values(size_t(kernels * height * width));
  for (int64_t i = 0; i < kernels * area; ++i) {
    const int64_t row = i % area / w.kernel_w * w.dilation_h + pad_h - w.top,
                  column = i % w.kernel_w * w.dilation_w + pad_w - w.left;
    values[size_t((i / area * height + row) * width + column)] = weight.values[size_t(i)];
  }
  weight.shape = {weight.shape[0], weight.shape[1], height, width};
  weight.values = std::move(values);
  w = {height, width, w.stride_h, w.stride_w, pad_h, pad_w, pad_h, pad_w, 1, 1};
  return weight;
}

Graph::Window Graph::window(const Node& node, const Shape& in, int64_t kernel_h, int64_t kernel_w) {
  const auto pair = [&](const char* name, const std::vector<int64_t>& fallback, int64_t least, size_t count = 2) {
    std::vector<int64_t> values = integers(node, name, fallback);
    if (values.size() != count)
      unsupported(node, std::string("has ") + name + " for more or fewer than two dimensions");
    for (const int64_t v : values)
      if (v < least || v > kMost) unsupported(node, std::string("has ") + name + " out of range");
    return values;
  };
  const auto kernel = pair("kernel_shape", {kernel_h, kernel_w}, 1), stride = pair("strides", {1, 1}, 1),
             dilation = pair("dilations", {1, 1}, 1), pads = pair("pads", {0, 0, 0, 0}, 0, 4);
  Window w{kernel[0], kernel[1], stride[0], stride[1], pads[0], pads[1], pads[2], pads[3], dilation[0], dilation[1]};
  const std::string automatic = text(node, "auto_pad", "NOTSET");
  if (automatic == "VALID") w.top = w.left = w.bottom = w.right = 0;
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const auto pad = [&](int64_t size, int64_t k, int64_t s, int64_t& before, int64_t& after) {
      const int64_t all = std::max<int64_t>(((size + s - 1) / s - 1) * s + k - size, 0);
      before = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      after = all - before;
    };
    pad(in.height, extent(w.kernel_h, w.dilation_h), w.stride_h, w.top, w.bottom);
    pad(in.width, extent(w.kernel_w, w.dilation_w), w.stride_w, w.left, w.right);
  }
  return w;
}

// The last window may begin inside the image and end beyond its padding (layers/sliding_window.hpp).
bool Graph::put_ceil_mode(const Window& w, nlohmann::ordered_json& keys, const Shape& in) {
  const auto more = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    int64_t last = (size + 2 * pad - kernel + stride - 1) / stride * stride - pad;
    if (last >= size) last -= stride;
    return std::max<int64_t>(last + kernel - size - pad, 0);
  };
  if (w.bottom - w.top != more(in.height, w.kernel_h, w.stride_h, w.top) ||
      w.right - w.left != more(in.width, w.kernel_w, w.stride_w, w.left))
    return false;
  keys["ceil_mode"] = true;
  return true;
}

void Graph::put_window(const Node& node, const Window& w, nlohmann::ordered_json& keys, bool pool, const Shape& in) {
  keys["kernel_size"] = w.kernel_h;
  put(keys, "kernel_width", w.kernel_w, w.kernel_h);
  keys["stride"] = w.stride_h;
  put(keys, "stride_width", w.stride_w, w.stride_h);
  if (w.is_even()) {
    put(keys, "padding", w.top, 0);
    put(keys, "padding_width", w.left, w.top);
    return;
  }
  if (!pool && w.is_same()) {
    keys["same"] = true;
    return;
  }
  if (pool && w.bottom >= w.top && w.right >= w.left) {
    put(keys, "padding", w.top, 0);
    put(keys, "padding_width", w.left, w.top);
    if (put_ceil_mode(w, keys, in)) return;
  }
  unsupported(node, "pads its sides differently, which mokume does only with same = true and ceil_mode");
}

namespace {

template <class Window>
bool has_size_of(const Tensor& weight, const Window& w) {
  return weight.dims[2] == w.kernel_h && weight.dims[3] == w.kernel_w;
}

// Returns whether each group of filters reads its share of the channels.
bool suits_groups(const Tensor& weight, int64_t groups, int64_t channels) {
  return groups >= 1 && channels % groups == 0 && weight.dims[1] == channels / groups && weight.dims[0] >= 1 &&
         weight.dims[0] % groups == 0;
}

bool suits_transposed_groups(const Tensor& weight, int64_t groups, int64_t channels) {
  constexpr int64_t kMostFilters = 1'000'000;
  return groups >= 1 && weight.dims[0] == channels && channels % groups == 0 && weight.dims[1] >= 1 &&
         weight.dims[1] <= kMostFilters;
}

}  // namespace

void Graph::conv(const Node& node) {
  const Value x = image(node, 0);
  const Tensor& weight = constant(node, 1);
  if (weight.dims.size() != 4) unsupported(node, "is not a convolution of two dimensions");
  Shape padded = x.shape;
  padded.height += x.pad[0] + x.pad[2];
  padded.width += x.pad[1] + x.pad[3];
  Window w = window(node, padded, weight.dims[2], weight.dims[3]);
  const bool zeros = x.pad_mode == "zeros";
  if (!zeros && (w.top != 0 || w.left != 0 || w.bottom != 0 || w.right != 0))
    unsupported(node, "adds zeros to an image that a Pad has enlarged with other pixels");
  for (size_t i = 0; i < 4; ++i) *std::array{&w.top, &w.left, &w.bottom, &w.right}[i] += x.pad[i];
  const int64_t groups = integer(node, "group", 1), filters = weight.dims[0];
  if (!suits_groups(weight, groups, x.shape.channels) || !has_size_of(weight, w))
    throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
  MadeLayer layer;
  layer.weights.push_back({"weight", weight.dims, floats(node, 1)});
  if (w.dilation_h != w.dilation_w || (!w.is_even() && !w.is_same()) || !w.is_below_kernel())
    layer.weights[0] = even_out(node, w, std::move(layer.weights[0]), 0, 0);
  if (!zeros && (std::max(w.top, w.bottom) >= x.shape.height || std::max(w.left, w.right) >= x.shape.width))
    unsupported(node, "reads an image that a Pad has made more than twice as large");
  layer.keys = {{"type", "conv2d"}, {"out_channels", filters}};
  put_window(node, w, layer.keys, false, x.shape);
  if (!zeros) layer.keys["padding_mode"] = x.pad_mode;
  put(layer.keys, "dilation", w.dilation_h, 1);
  put(layer.keys, "groups", groups, 1);
  if (!has_input(node, 2)) layer.keys["bias"] = false;
  layer.hint = hint(node, 1);
  layer.inputs = {x.layer};
  layer.out = {places(x.shape.height, w.top + w.bottom, extent(w.kernel_h, w.dilation_h), w.stride_h),
               places(x.shape.width, w.left + w.right, extent(w.kernel_w, w.dilation_w), w.stride_w), filters};
  if (has_input(node, 2)) layer.weights.push_back({"bias", {filters}, floats(node, 2)});
  give_layer(node, std::move(layer));
}

// Leaves zeros around an image to the convolution that reads it.
void Graph::pad(const Node& node) {
  Value x = layer_value(node, 0);
  std::vector<int64_t> pads = has_input(node, 1) ? whole_numbers(node, 1) : integers(node, "pads", {});
  const size_t rank = x.shape.flat ? 2 : 4;
  if (has_input(node, 3) || pads.size() != 2 * rank) unsupported(node, "pads some dimensions only (axes)");
  if (std::all_of(pads.begin(), pads.end(), [](int64_t v) { return v == 0; })) return give(node, std::move(x));
  static const std::map<std::string, std::string> modes = {
      {"constant", "zeros"}, {"reflect", "reflect"}, {"edge", "replicate"}, {"wrap", "circular"}};
  const auto mode = modes.find(text(node, "mode", "constant"));
  if (mode == modes.end()) unsupported(node, "has a mode that is not constant, reflect, edge or wrap");
  const bool given = has_input(node, 2);
  const bool zero = given ? floats(node, 2) == std::vector<float>{0} : real(node, "value", 0) == 0;
  if (!zero && mode->second == "zeros") unsupported(node, "pads with another number than 0");
  const bool inside = rank == 4 && pads[0] == 0 && pads[1] == 0 && pads[4] == 0 && pads[5] == 0 &&
                      std::all_of(pads.begin(), pads.end(), [](int64_t v) { return v >= 0 && v <= kMost; });
  if (!inside) unsupported(node, "pads dimensions other than height and width, or cuts them");
  x.pad = {pads[2], pads[3], pads[6], pads[7]};
  x.pad_mode = mode->second;
  give(node, std::move(x));
}

void Graph::conv_transpose(const Node& node) {
  const Value x = image(node, 0);
  const Tensor& weight = constant(node, 1);
  if (weight.dims.size() != 4) unsupported(node, "is not a convolution of two dimensions");
  Window w = window(node, x.shape, weight.dims[2], weight.dims[3]);
  const int64_t groups = integer(node, "group", 1);
  if (!suits_transposed_groups(weight, groups, x.shape.channels) || !has_size_of(weight, w))
    throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
  auto added = integers(node, "output_padding", {0, 0});
  const auto in_range = [](int64_t v) { return v >= 0 && v <= kMost; };
  if (added.size() != 2 || !in_range(added[0]) || !in_range(added[1]))
    unsupported(node, "has output_padding out of range");
  if (find(node, "output_shape") != nullptr || text(node, "auto_pad", "NOTSET") != "NOTSET")
    unsupported(node, "has an output_shape or auto_pad: give it pads");
  MadeLayer layer;
  layer.weights.push_back({"weight", weight.dims, floats(node, 1)});
  const bool added_alike = added[0] == added[1] && added[0] < std::min(w.stride_h, w.stride_w);
  if (w.dilation_h != w.dilation_w || !added_alike || !w.is_even() || !w.is_below_kernel()) {
    layer.weights[0] = even_out(node, w, std::move(layer.weights[0]), added[0], added[1]);
    added = {0, 0};
  }
  const int64_t channels = weight.dims[1] * groups;
  layer.keys = {{"type", "conv_transpose2d"}, {"out_channels", channels}};
  put_window(node, w, layer.keys, false, x.shape);
  put(layer.keys, "output_padding", added[0], 0);
  put(layer.keys, "dilation", w.dilation_h, 1);
  put(layer.keys, "groups", groups, 1);
  if (!has_input(node, 2)) layer.keys["bias"] = false;
  layer.hint = hint(node, 1);
  layer.inputs = {x.layer};
  const auto side = [&](int64_t size, int64_t stride, int64_t pad, int64_t reach) {
    return (size - 1) * stride - 2 * pad + reach + added[0];
  };
  layer.out = {side(x.shape.height, w.stride_h, w.top, extent(w.kernel_h, w.dilation_h)),
               side(x.shape.width, w.stride_w, w.left, extent(w.kernel_w, w.dilation_w)), channels};
  if (has_input(node, 2)) layer.weights.push_back({"bias", {channels}, floats(node, 2)});
  give_layer(node, std::move(layer));
}

// Returns whether the only place of the window covers the whole image.
bool Graph::Window::covers(const Shape& image) const {
  const auto is_whole = [](int64_t size, int64_t before, int64_t after, int64_t kernel, int64_t stride) {
    const int64_t rest = size + before + after - kernel;
    return kernel - before >= size && rest >= 0 && rest < stride;
  };
  return is_whole(image.height, top, bottom, kernel_h, stride_h) &&
         is_whole(image.width, left, right, kernel_w, stride_w);
}

void Graph::pool(const Node& node, const char* type) {
  const Value x = image(node, 0);
  Window w = window(node, x.shape, 0, 0);
  if (w.dilation_h != 1 || w.dilation_w != 1) unsupported(node, "has dilations, which mokume's pools lack");
  const bool average = std::string(type) == "avg_pool2d";
  // A mean over the whole image is the same whatever the padding, which does not count.
  if (average && integer(node, "count_include_pad", 0) == 0 && w.covers(x.shape)) return average_all(node, x);
  MadeLayer layer;
  layer.keys = {{"type", type}};
  if (w.kernel_h > x.shape.height + 2 * w.top || w.kernel_w > x.shape.width + 2 * w.left)
    unsupported(node, "has a window larger than its image");
  if (integer(node, "ceil_mode", 0) != 0) {
    if (!w.is_even()) unsupported(node, "pads its sides differently");
    const auto up = [](int64_t size, int64_t pad, int64_t kernel, int64_t stride) {
      int64_t count = (size + 2 * pad - kernel + stride - 1) / stride + 1;
      if ((count - 1) * stride >= size + pad) --count;
      return (count - 1) * stride + kernel - size - pad;
    };
    w.bottom = std::max(w.top, up(x.shape.height, w.top, w.kernel_h, w.stride_h));
    w.right = std::max(w.left, up(x.shape.width, w.left, w.kernel_w, w.stride_w));
  }
  if (average && !w.is_even() && integer(node, "ceil_mode", 0) == 0)
    unsupported(node, "pads its sides differently, and counts that padding");
  put_window(node, w, layer.keys, true, x.shape);
  if (average && integer(node, "count_include_pad", 0) == 0 && (w.top != 0 || w.left != 0))
    layer.keys["count_include_pad"] = false;
  layer.inputs = {x.layer};
  layer.out = {places(x.shape.height, w.top + w.bottom, w.kernel_h, w.stride_h),
               places(x.shape.width, w.left + w.right, w.kernel_w, w.stride_w), x.shape.channels};
  give_layer(node, std::move(layer));
}

void Graph::max_pool(const Node& node) { pool(node, "max_pool2d"); }
void Graph::average_pool(const Node& node) { pool(node, "avg_pool2d"); }

void Graph::global_average_pool(const Node& node) { average_all(node, image(node, 0)); }

void Graph::average_all(const Node& node, const Value& x) {
  MadeLayer layer;
  layer.keys = {{"type", "adaptive_avg_pool2d"}, {"output_size", 1}};
  layer.inputs = {x.layer};
  layer.out = {1, 1, x.shape.channels};
  give_layer(node, std::move(layer));
}

void Graph::global_max_pool(const Node& node) {
  const Value x = image(node, 0);
  if (std::max(x.shape.height, x.shape.width) > kMost) unsupported(node, "has a window of more than 1024 pixels");
  MadeLayer layer;
  layer.keys = {{"type", "max_pool2d"}, {"kernel_size", x.shape.height}};
  put(layer.keys, "kernel_width", x.shape.width, x.shape.height);
  layer.inputs = {x.layer};
  layer.out = {1, 1, x.shape.channels};
  give_layer(node, std::move(layer));
}

// Handles the mean over height and width.
void Graph::reduce_mean(const Node& node) {
  const Value x = in_any_order(node, 0);
  if (x.shape.flat) unsupported(node, "needs images of two dimensions, but reads rows of features");
  const bool last = x.layout == Value::Layout::channels_last;
  std::vector<int64_t> axes = has_input(node, 1) ? whole_numbers(node, 1) : integers(node, "axes", {});
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != (last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3}))
    unsupported(node, "is a mean over dimensions other than height and width");
  average_all(node, x);
  Value& made = values_[node.output(0)];
  if (integer(node, "keepdims", 1) == 0)
    flatten_value(node, Value(made));
  else
    made.layout = x.layout;
}

// Detects means over areas of different sizes, which are two products with constants: rows x image x columns.
bool Graph::adaptive_pool(const Node& node) {
  const bool left = is_constant(node, 0);
  if (left == is_constant(node, 1)) return false;
  const Tensor& t = constant(node, left ? 0 : 1);
  Value x = layer_value(node, left ? 1 : 0);
  const int64_t cells = x.shape.flat || t.dims.size() != 2 ? 0 : t.dims[left ? 0 : 1];
  const int64_t size = left ? x.shape.height : x.shape.width;
  if (cells < 1 || cells > size || t.dims[left ? 1 : 0] != size || !t.is_real()) return false;
  if (!averages_areas(t, size, cells, left)) return false;
  if (left) {
    x.area = cells;
    give(node, std::move(x));
    return true;
  }
  if (x.area != cells) return false;
  MadeLayer layer;
  layer.keys = {{"type", "adaptive_avg_pool2d"}, {"output_size", cells}};
  layer.inputs = {x.layer};
  layer.out = {cells, cells, x.shape.channels};
  give_layer(node, std::move(layer));
  return true;
}

}  // namespace mokume::cnn::onnx
