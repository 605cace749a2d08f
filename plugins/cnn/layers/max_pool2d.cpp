// max_pool2d: the largest element under a square window, as PyTorch's MaxPool2d.
#include "sdk/ops/max_pool.hpp"

#include "layers/export.hpp"
#include "layers/sliding_window.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kKeys[] = {
    integer("kernel_size", 1, 1024, "", "side of the square window"),
    integer("stride", 0, 1024, "0", "step of the window; 0: the size of the window"),
    integer("padding", 0, 1023, "0", "border around the image that is never selected"),
};

class MaxPool2d : public Layer {
 public:
  MaxPool2d(const Values& v, Plan& plan) : Layer(plan) {
    const int64_t kernel = v.integer("kernel_size"), stride = v.integer("stride");
    window_ = sliding_window(plan, kernel, stride == 0 ? kernel : stride, v.integer("padding"));
    out = {window_.out_height(), window_.out_width(), in.channels};
    buffers = {{out.elements(), 0}};  // the index of each largest element
    variant = {window_.kernel_h, window_.stride_h, window_.pad_h};
  }

  void forward(const Pass& p) const override { p.submit(ops::max_pool(p.x, window_, p.y, chosen(p))); }
  void backward(Pass& p) const override { p.submit(ops::max_pool_grad(p.dy, chosen(p), window_, p.dx)); }
  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("MaxPool", {x}, onnx_window(window_));
  }

 private:
  static mk_tensor chosen(const Pass& p) { return p.buffers[0].matrix(p.y.rows, p.y.columns, 0, MK_I32); }

  ops::Window window_;
};

}  // namespace

extern constinit const LayerType kMaxPool2d =
    layer_type<MaxPool2d>("max_pool2d", "largest element under a window", kKeys);

}  // namespace mokume::cnn
