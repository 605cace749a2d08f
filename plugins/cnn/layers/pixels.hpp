// Makes images from the pixels of other images, chosen by row and by column: for padding, and for cells of equal size.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "layers/export.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/gather_pixels.hpp"

namespace mokume::cnn {

class Pixels {
 public:
  Pixels() = default;
  // Pixel (y, x) of the result is pixel (rows[y], columns[x]) of an image of shape `from`.
  Pixels(const Shape& from, std::vector<int32_t> rows, std::vector<int32_t> columns)
      : rows_(std::move(rows)),
        columns_(std::move(columns)),
        map_{from.height, from.width, from.channels, int64_t(rows_.size()), int64_t(columns_.size())} {}

  Shape shape() const { return {map_.out_h, map_.out_w, map_.channels}; }
  // Describes the buffer for the indices, which fill() must write before the first pass.
  Layer::Buffer indices() const { return {0, map_.out_h + map_.out_w}; }
  void fill(const sdk::Device& device, const Slice& indices) const {
    indices.write(device, rows_.data(), map_.out_h);
    indices.write(device, columns_.data(), map_.out_w, map_.out_h);
  }
  mk_op gather(const mk_tensor& x, const Slice& indices, const mk_tensor& out) const {
    return ops::gather_pixels(x, rows(indices), columns(indices), map_, out);
  }
  mk_op gradient(const mk_tensor& grad, const Slice& indices, const mk_tensor& dx) const {
    return ops::gather_pixels_grad(grad, rows(indices), columns(indices), map_, dx);
  }
  // `name` is the name of the layer.
  std::string to_onnx(Export& to, const std::string& x, const std::string& name) const {
    const auto gathered = [&](const std::string& from, const char* called, const std::vector<int32_t>& side,
                              int64_t axis) {
      const std::vector<int64_t> wide(side.begin(), side.end());
      return to.graph.add("Gather", {from, to.graph.constant(name + called, {int64_t(wide.size())}, wide)},
                          sdk::onnx::Attributes().set("axis", axis));
    };
    return gathered(gathered(x, ".rows", rows_, 2), ".columns", columns_, 3);
  }

 private:
  mk_tensor rows(const Slice& indices) const { return indices.vector(map_.out_h, 0, MK_I32); }
  mk_tensor columns(const Slice& indices) const { return indices.vector(map_.out_w, map_.out_h, MK_I32); }

  std::vector<int32_t> rows_, columns_;
  ops::PixelMap map_;
};

}  // namespace mokume::cnn
