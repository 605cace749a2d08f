// max_pool2d returns the largest element in each window, like PyTorch's MaxPool2d.
#include "sdk/ops/max_pool.hpp"

#include "layers/export.hpp"
#include "layers/sliding_window.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kMaxPool2dKeys[] = {
    integer("kernel_size", 1, 1024, "", "height of the window, and its width without kernel_width"),
    integer("stride", 0, 1024, "0", "step of the window; 0: the size of the window"),
    integer("padding", 0, 1023, "0", "border around the image that is never selected"),
    kKernelWidth,
    kStrideWidth,
    kPaddingWidth,
    kCeilMode,
};

class MaxPool2d : public Layer {
 public:
  MaxPool2d(const Values& v, LayerPlan& plan) : Layer(plan), window_(pool_window(plan, v)) {
    out = {window_.out_height(), window_.out_width(), in.channels};
    buffers = {{out.elements(), 0}};  // index of each largest element
    variant = variant_of(window_);
  }

  void forward(const Pass& p) const override { p.submit(ops::max_pool(p.x, window_, p.y, chosen(p))); }
  void backward(Pass& p) const override {
    p.relu_done = p.x_is_relu;
    p.submit(ops::max_pool_grad(p.dy, chosen(p), window_, p.dx, p.relu_done ? p.x : mk_tensor{}));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("MaxPool", {x}, onnx_window(window_));
  }

 private:
  static mk_tensor chosen(const Pass& p) { return p.buffers[0].matrix(p.y.rows, p.y.columns, 0, MK_I32); }

  ops::Window window_;
};

}  // namespace

extern constinit const LayerType kMaxPool2d =
    layer_type<MaxPool2d>("max_pool2d", "largest element under a window", kMaxPool2dKeys);

}  // namespace mokume::cnn
