// Converts convolutions and pools.
#include <algorithm>
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

Graph::Window Graph::window(const Node& node, const Shape& in, int64_t kernel_h, int64_t kernel_w) {
  const auto pair = [&](const char* name, const std::vector<int64_t>& fallback, int64_t least, size_t count = 2) {
    std::vector<int64_t> values = integers(node, name, fallback);
    if (values.size() != count)
      unsupported(node, std::string("has ") + name + " of another number than two dimensions");
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
  if (w.top == w.bottom && w.left == w.right) {
    put(keys, "padding", w.top, 0);
    put(keys, "padding_width", w.left, w.top);
    return;
  }
  const auto is_same = [](int64_t before, int64_t after, int64_t reach) {
    return before == (reach - 1) / 2 && after == reach - 1 - before;
  };
  const bool same = is_same(w.top, w.bottom, extent(w.kernel_h, w.dilation_h)) &&
                    is_same(w.left, w.right, extent(w.kernel_w, w.dilation_w));
  if (!pool && same && w.stride_h == 1 && w.stride_w == 1) {
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

void Graph::conv(const Node& node) {
  const Value x = image(node, 0);
  const Tensor& weight = constant(node, 1);
  if (weight.dims.size() != 4) unsupported(node, "is a convolution of another number than two dimensions");
  const Window w = window(node, x.shape, weight.dims[2], weight.dims[3]);
  const int64_t groups = integer(node, "group", 1), filters = weight.dims[0];
  if (groups < 1 || weight.dims[1] != x.shape.channels / groups || x.shape.channels % groups != 0 ||
      weight.dims[2] != w.kernel_h || weight.dims[3] != w.kernel_w || filters < 1 || filters % groups != 0)
    throw Error(MK_BAD_DATA, title(node) + " has weights of another shape than its input needs: export it again");
  if (w.dilation_h != w.dilation_w) unsupported(node, "has dilations that differ in height and width");
  MadeLayer layer;
  layer.keys = {{"type", "conv2d"}, {"out_channels", filters}};
  put_window(node, w, layer.keys, false, x.shape);
  put(layer.keys, "dilation", w.dilation_h, 1);
  put(layer.keys, "groups", groups, 1);
  if (!has_input(node, 2)) layer.keys["bias"] = false;
  layer.hint = hint(node, 1);
  layer.inputs = {x.layer};
  layer.out = {places(x.shape.height, w.top + w.bottom, extent(w.kernel_h, w.dilation_h), w.stride_h),
               places(x.shape.width, w.left + w.right, extent(w.kernel_w, w.dilation_w), w.stride_w), filters};
  layer.weights.push_back({"weight", weight.dims, floats(node, 1)});
  if (has_input(node, 2)) layer.weights.push_back({"bias", {filters}, floats(node, 2)});
  give_layer(node, std::move(layer));
}

void Graph::conv_transpose(const Node& node) {
  const Value x = image(node, 0);
  const Tensor& weight = constant(node, 1);
  if (weight.dims.size() != 4) unsupported(node, "is a convolution of another number than two dimensions");
  const Window w = window(node, x.shape, weight.dims[2], weight.dims[3]);
  const int64_t groups = integer(node, "group", 1);
  if (groups < 1 || weight.dims[0] != x.shape.channels || weight.dims[0] % groups != 0 ||
      weight.dims[2] != w.kernel_h || weight.dims[3] != w.kernel_w || weight.dims[1] < 1 || weight.dims[1] > 1'000'000)
    throw Error(MK_BAD_DATA, title(node) + " has weights of another shape than its input needs: export it again");
  const auto added = integers(node, "output_padding", {0, 0});
  if (added.size() != 2 || added[0] != added[1] || added[0] < 0 || added[0] > kMost || w.top != w.bottom ||
      w.left != w.right || find(node, "output_shape") != nullptr || text(node, "auto_pad", "NOTSET") != "NOTSET" ||
      w.dilation_h != w.dilation_w)
    unsupported(node, "has an output_shape, or padding or dilation that differs between sides");
  MadeLayer layer;
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
  layer.weights.push_back({"weight", weight.dims, floats(node, 1)});
  if (has_input(node, 2)) layer.weights.push_back({"bias", {channels}, floats(node, 2)});
  give_layer(node, std::move(layer));
}

void Graph::pool(const Node& node, const char* type) {
  const Value x = image(node, 0);
  Window w = window(node, x.shape, 0, 0);
  if (w.dilation_h != 1 || w.dilation_w != 1) unsupported(node, "has dilations, which mokume's pools lack");
  MadeLayer layer;
  layer.keys = {{"type", type}};
  const bool average = std::string(type) == "avg_pool2d";
  if (integer(node, "ceil_mode", 0) != 0) {
    if (w.top != w.bottom || w.left != w.right) unsupported(node, "pads its sides differently");
    const auto up = [](int64_t size, int64_t pad, int64_t kernel, int64_t stride) {
      int64_t count = (size + 2 * pad - kernel + stride - 1) / stride + 1;
      if ((count - 1) * stride >= size + pad) --count;
      return (count - 1) * stride + kernel - size - pad;
    };
    w.bottom = std::max(w.top, up(x.shape.height, w.top, w.kernel_h, w.stride_h));
    w.right = std::max(w.left, up(x.shape.width, w.left, w.kernel_w, w.stride_w));
  }
  const bool even = w.top == w.bottom && w.left == w.right;
  if (average && !even && integer(node, "ceil_mode", 0) == 0)
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

void Graph::global_average_pool(const Node& node) {
  const Value x = image(node, 0);
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
  const Value x = image(node, 0);
  std::vector<int64_t> axes = has_input(node, 1) ? whole_numbers(node, 1) : integers(node, "axes", {});
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != std::vector<int64_t>{2, 3}) unsupported(node, "is a mean over other dimensions than height and width");
  global_average_pool(node);
  if (integer(node, "keepdims", 1) == 0) flatten_value(node, values_[node.output(0)]);
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
