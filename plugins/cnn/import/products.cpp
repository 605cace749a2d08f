// Converts linear layers and normalisations.
#include <algorithm>
#include <cmath>

#include "import/graph.hpp"
#include "sdk/error.hpp"

namespace mokume::cnn::onnx {
namespace {

// Returns weights for rows in the order C, H, W. The given ones are for the order H, W, C.
std::vector<float> with_channels_first(const std::vector<float>& weights, const Shape& s) {
  std::vector<float> turned;
  const auto pixels = size_t(s.height * s.width), channels = size_t(s.channels);
  for (size_t row = 0; row < weights.size(); row += pixels * channels)
    for (size_t c = 0; c < channels; ++c)
      for (size_t p = 0; p < pixels; ++p) turned.push_back(weights[row + p * channels + c]);
  return turned;
}

}  // namespace

void Graph::gemm(const Node& node) {
  if (integer(node, "transA", 0) != 0) unsupported(node, "transposes its rows (transA)");
  linear(node, integer(node, "transB", 0) != 0, has_input(node, 2));
}

void Graph::matmul(const Node& node) {
  if (!adaptive_pool(node)) linear(node, false, false);
}

// Weights without transposition are inputs x outputs; PyTorch's are outputs x inputs.
void Graph::linear(const Node& node, bool transposed, bool with_bias) {
  const Tensor& t = constant(node, 1);
  const Value x = rows(node, 0);
  if (t.dims.size() != 2 || t.dims[transposed ? 1 : 0] != x.shape.elements())
    throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
  const int64_t outputs = t.dims[transposed ? 0 : 1], inputs = x.shape.elements();
  std::vector<float> values = floats(node, 1);
  const auto scale = [&](const char* attribute, std::vector<float>& all) {
    for (float& v : all) v = float(v * real(node, attribute, 1));
  };
  scale("alpha", values);
  if (!transposed) {
    std::vector<float> turned(values.size());
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t o = 0; o < outputs; ++o) turned[size_t(o * inputs + i)] = values[size_t(i * outputs + o)];
    values = std::move(turned);
  }
  if (x.layout == Value::Layout::channels_last) values = with_channels_first(values, x.shape);
  MadeLayer layer;
  layer.keys = {{"type", "linear"}, {"out_features", outputs}};
  layer.hint = hint(node, 1);
  layer.inputs = {x.layer};
  layer.out = {1, 1, outputs, true};
  layer.weights.push_back({"weight", {outputs, inputs}, std::move(values)});
  if (with_bias) {
    std::vector<float> bias = floats(node, 2);
    const std::vector<int64_t>& dims = constant(node, 2).dims;
    if (bias.size() == 1) bias.assign(size_t(outputs), bias.front());
    if (int64_t(bias.size()) != outputs || (dims.size() == 2 && dims[0] != 1))
      unsupported(node, "has a bias that is not one number for each output");
    scale("beta", bias);
    layer.weights.push_back({"bias", {outputs}, std::move(bias)});
  } else {
    layer.keys["bias"] = false;
  }
  give_layer(node, std::move(layer));
}

void Graph::batch_norm(const Node& node) {
  const Value x = layer_value(node, 0);
  const bool old = model_.operator_set < 7;
  if (integer(node, "training_mode", 0) != 0 || (old && integer(node, "is_test", 0) == 0))
    unsupported(node, "is in training mode: call eval() before the export");
  if (integer(node, "spatial", 1) != 1) unsupported(node, "has numbers for each pixel (spatial)");
  const int64_t channels = x.shape.flat ? x.shape.elements() : x.shape.channels;
  MadeLayer layer;
  layer.keys = {{"type", "batch_norm"}, {"eps", decimal(float(real(node, "epsilon", 1e-5F)))}};
  // ONNX specifies the share of the old value.
  const double momentum = decimal(1 - float(real(node, "momentum", 0.9F)));
  if (momentum > 0 && momentum <= 1) layer.keys["momentum"] = decimal(float(std::round(momentum * 1e6) / 1e6));
  layer.hint = hint(node, 1);
  layer.inputs = {x.layer};
  layer.out = x.shape;
  size_t i = 1;
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    std::vector<float> values = floats(node, i++);
    if (int64_t(values.size()) != channels)
      throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
    layer.weights.push_back({name, {channels}, std::move(values)});
  }
  if (x.layer == Builder::kInput && x.shape.flat) layer.inputs = {rows(node, 0).layer};
  give_layer(node, std::move(layer));
}

void Graph::layer_norm(const Node& node) {
  const Value x = layer_value(node, 0);
  const int64_t rank = x.shape.flat ? 2 : 4, axis = integer(node, "axis", -1);
  if ((axis < 0 ? axis + rank : axis) != 1) unsupported(node, "normalises dimensions other than all elements of a row");
  const int64_t elements = x.shape.elements();
  MadeLayer layer;
  layer.keys = {{"type", "layer_norm"}, {"eps", decimal(float(real(node, "epsilon", 1e-5F)))}};
  layer.hint = hint(node, 1);
  layer.inputs = {x.shape.flat ? rows(node, 0).layer : x.layer};
  layer.out = x.shape;
  layer.weights.push_back({"weight", {elements}, floats(node, 1)});
  layer.weights.push_back(
      {"bias", {elements}, has_input(node, 2) ? floats(node, 2) : std::vector<float>(size_t(elements), 0)});
  for (const Weight& w : layer.weights)
    if (int64_t(w.values.size()) != elements) unsupported(node, "has a weight that is not one number for each element");
  give_layer(node, std::move(layer));
}

MadeLayer Graph::group_norm_of(const Shape& shape, int64_t groups, double eps, const std::vector<float>& weight,
                               const std::vector<float>& bias) const {
  const int64_t channels = shape.channels;
  MadeLayer layer;
  layer.keys = {{"type", "group_norm"}, {"num_groups", groups}, {"eps", decimal(float(eps))}};
  layer.out = shape;
  for (const auto& [name, given] : {std::pair("weight", &weight), {"bias", &bias}}) {
    std::vector<float> values;
    // The file has one value for each channel, or for each group.
    const int64_t each = channels / int64_t(given->size());
    for (int64_t c = 0; c < channels; ++c) values.push_back((*given)[size_t(c / each)]);
    layer.weights.push_back({name, {channels}, std::move(values)});
  }
  return layer;
}

// In an image, every channel is a group. In a value with groups, a later reshape restores the image.
void Graph::instance_norm(const Node& node) {
  Value x = value(node, 0);
  if (x.layout != Value::Layout::groups) x = image(node, 0);
  const int64_t groups = x.layout == Value::Layout::groups ? x.groups : x.shape.channels;
  const std::vector<float> weight = floats(node, 1), bias = floats(node, 2);
  if (int64_t(weight.size()) != groups || int64_t(bias.size()) != groups || x.norm != nullptr)
    throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
  MadeLayer layer = group_norm_of(x.shape, groups, real(node, "epsilon", 1e-5F), weight, bias);
  layer.inputs = {x.layer};
  layer.hint = hint(node, 1);
  if (x.layout != Value::Layout::groups) return give_layer(node, std::move(layer));
  x.norm = std::make_shared<MadeLayer>(std::move(layer));
  give(node, std::move(x));
}

void Graph::group_norm(const Node& node) {
  const Value x = image(node, 0);
  const int64_t groups = integer(node, "num_groups", 0);
  const std::vector<float> weight = floats(node, 1), bias = floats(node, 2);
  const auto fits = [&](const std::vector<float>& values) {
    return int64_t(values.size()) == x.shape.channels || int64_t(values.size()) == groups;
  };
  if (groups < 1 || x.shape.channels % groups != 0 || !fits(weight) || !fits(bias))
    throw Error(MK_BAD_DATA, title(node) + " has weights whose shape does not fit its input: export it again");
  MadeLayer layer = group_norm_of(x.shape, groups, real(node, "epsilon", 1e-5F), weight, bias);
  layer.inputs = {x.layer};
  layer.hint = hint(node, 1);
  give_layer(node, std::move(layer));
}

void Graph::lrn(const Node& node) {
  const Value x = image(node, 0);
  MadeLayer layer;
  layer.keys = {{"type", "lrn"},
                {"size", integer(node, "size", 1)},
                {"alpha", decimal(float(real(node, "alpha", 1e-4F)))},
                {"beta", decimal(float(real(node, "beta", 0.75F)))},
                {"k", decimal(float(real(node, "bias", 1.0F)))}};
  layer.out = x.shape;
  layer.inputs = {x.layer};
  give_layer(node, std::move(layer));
}

}  // namespace mokume::cnn::onnx
