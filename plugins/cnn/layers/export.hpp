// Helps to add layers to an ONNX graph, where images have channels first, and weights have PyTorch's order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "layers/layer.hpp"
#include "sdk/onnx.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::cnn {

struct Export {
  sdk::onnx::Graph& graph;
  // Adds a parameter of the network to the graph, in PyTorch's shape, and returns its name.
  std::function<std::string(int parameter)> parameter;
  // The moments of the features are empty unless the first layer normalises each feature.
  const std::vector<float>&mean, &deviation;
};

// Returns the dimensions of a row, without the batch.
inline std::vector<int64_t> onnx_shape(const Shape& shape) {
  if (shape.flat) return {shape.elements()};
  return {shape.channels, shape.height, shape.width};
}

inline sdk::onnx::Attributes onnx_window(const ops::Window& w) {
  return sdk::onnx::Attributes()
      .set("kernel_shape", std::vector<int64_t>{w.kernel_h, w.kernel_w})
      .set("strides", std::vector<int64_t>{w.stride_h, w.stride_w})
      .set("pads", std::vector<int64_t>{w.pad_h, w.pad_w, w.pad_h + w.more_h, w.pad_w + w.more_w});
}

inline sdk::onnx::Attributes onnx_convolution(const ops::Window& w) {
  sdk::onnx::Attributes attributes = onnx_window(w);
  if (w.dilated()) attributes.set("dilations", std::vector<int64_t>{w.dilation_h, w.dilation_w});
  if (w.groups > 1) attributes.set("group", w.groups);
  return attributes;
}

// Reorders the values of an image from channels innermost to channels first.
inline std::vector<float> channels_first(const std::vector<float>& values, const Shape& shape) {
  std::vector<float> result(values.size());
  const int64_t pixels = shape.height * shape.width;
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < shape.channels; ++c) result[c * pixels + p] = values[p * shape.channels + c];
  return result;
}

}  // namespace mokume::cnn
