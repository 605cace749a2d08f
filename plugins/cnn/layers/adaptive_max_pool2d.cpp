// adaptive_max_pool2d returns the largest element of each cell of a square grid, like PyTorch's AdaptiveMaxPool2d.
#include "layers/export.hpp"
#include "layers/pixels.hpp"
#include "sdk/ops/avg_pool.hpp"
#include "sdk/ops/max_pool.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kAdaptiveMaxPool2dKeys[] = {integer("output_size", 1, 4096, "1", "side of the square output")};

enum { kChosen, kGathered, kIndices };  // indices of the layer's buffers

// Cells that have one size and do not overlap are the windows of a pool. The layer first brings other cells to one
// size: the last pixel of a smaller cell occurs again, which changes neither the maximum nor its first position.
class AdaptiveMaxPool2d : public Layer {
 public:
  AdaptiveMaxPool2d(const Values& v, LayerPlan& plan) : Layer(plan) {
    plan.need_images();
    out.height = out.width = v.integer("output_size");
    buffers = {{out.elements(), 0}};
    Shape from = in;
    if (in.height % out.height != 0 || in.width % out.width != 0) {
      gathers_ = true;
      pixels_ = Pixels(in, cells(in.height, out.height), cells(in.width, out.width));
      from = pixels_.shape();
      buffers.push_back({from.elements(), 0});
      buffers.push_back(pixels_.indices());
    }
    window_ = {from.height, from.width, from.channels};
    window_.kernel_h = window_.stride_h = from.height / out.height;
    window_.kernel_w = window_.stride_w = from.width / out.width;
  }

  void fill_buffers(const sdk::Device& device, std::span<const Slice> to) const override {
    if (gathers_) pixels_.fill(device, to[kIndices]);
  }
  void forward(const Pass& p) const override {
    if (gathers_) p.submit(pixels_.gather(p.x, p.buffers[kIndices], gathered(p)));
    p.submit(ops::max_pool(gathers_ ? gathered(p) : p.x, window_, p.y, chosen(p)));
  }
  void backward(Pass& p) const override {
    p.submit(ops::max_pool_grad(p.dy, chosen(p), window_, gathers_ ? gathered(p) : p.dx));
    if (gathers_) p.submit(pixels_.gradient(gathered(p), p.buffers[kIndices], p.dx));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("MaxPool", {gathers_ ? pixels_.to_onnx(to, x, name) : x}, onnx_window(window_));
  }

 private:
  static std::vector<int32_t> cells(int64_t size, int64_t cells) {
    int64_t most = 0;
    for (int64_t c = 0; c < cells; ++c)
      most = std::max(most, ops::avg_pool_end(c, size, cells) - ops::avg_pool_begin(c, size, cells));
    std::vector<int32_t> indices;
    for (int64_t c = 0; c < cells; ++c)
      for (int64_t i = 0; i < most; ++i)
        indices.push_back(
            int32_t(std::min(ops::avg_pool_begin(c, size, cells) + i, ops::avg_pool_end(c, size, cells) - 1)));
    return indices;
  }
  static mk_tensor chosen(const Pass& p) { return p.buffers[kChosen].matrix(p.y.rows, p.y.columns, 0, MK_I32); }
  mk_tensor gathered(const Pass& p) const { return p.buffers[kGathered].matrix(p.x.rows, window_.image()); }

  ops::Window window_;
  bool gathers_ = false;
  Pixels pixels_;
};

}  // namespace

extern constinit const LayerType kAdaptiveMaxPool2d =
    layer_type<AdaptiveMaxPool2d>("adaptive_max_pool2d", "largest element of areas of a grid", kAdaptiveMaxPool2dKeys);

}  // namespace mokume::cnn
