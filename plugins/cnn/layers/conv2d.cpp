// conv2d: a convolution with a square window, as PyTorch's Conv2d. It absorbs a relu that follows it into its own op.
#include "sdk/ops/conv2d.hpp"

#include "layers/export.hpp"
#include "layers/sliding_window.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kKeys[] = {
    integer("out_channels", 1, 1e6, "", "filters"),
    integer("kernel_size", 1, 1024, "", "side of the square window"),
    integer("stride", 1, 1024, "1", "step of the window"),
    integer("padding", 0, 1023, "0", "zeros around the image"),
    flag("bias", "true", "one number added per filter"),
};

class Conv2d : public Layer {
 public:
  Conv2d(const Values& v, Plan& plan)
      : Layer(plan),
        window_(sliding_window(plan, v.integer("kernel_size"), v.integer("stride"), v.integer("padding"))) {
    out = {window_.out_height(), window_.out_width(), v.integer("out_channels")};
    plan.weight_and_bias({window_.kernel_h, window_.kernel_w, in.channels}, out.channels, Parameter::Kind::convolution,
                         v.flag("bias"), &weight_, &bias_);
    products = double(out.elements()) * window_.patch();
    workspace = window_.out_pixels() * window_.patch();
    variant = {window_.kernel_h, window_.stride_h, window_.pad_h};
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  void forward(const Pass& p) const override {
    p.submit(ops::conv2d(p.x, p.weights.whole(weight_), p.weights.whole(bias_), window_, activation, p.y));
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    p.submit(ops::conv2d_grad_weight(p.x, p.dy, window_, to.whole(weight_), to.whole(bias_)));
  }
  void backward(Pass& p) const override {
    p.submit(ops::conv2d_grad_input(p.dy, p.weights.whole(weight_), window_, p.dx));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<std::string> inputs{x, to.parameter(weight_)};
    if (bias_ >= 0) inputs.push_back(to.parameter(bias_));
    return to.graph.add("Conv", inputs, onnx_window(window_));
  }

 private:
  ops::Window window_;
  int weight_, bias_;
};

}  // namespace

extern constinit const LayerType kConv2d = layer_type<Conv2d>("conv2d", "convolution", kKeys);

}  // namespace mokume::cnn
