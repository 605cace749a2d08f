// multiply is the product of two layers of one shape, or of images and one number for each channel of an image, as in
// squeeze-and-excitation networks.
#include "sdk/ops/multiply.hpp"

#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Multiply : public Layer {
 public:
  Multiply(const Values&, LayerPlan& plan) : Layer(plan) {
    if (plan.inputs.size() != 2)
      plan.refuse("it multiplies two layers, but its inputs are " + std::to_string(plan.inputs.size()),
                  "name two layers in its inputs");
    const Shape &a = plan.inputs[0], &b = plan.inputs[1];
    factor_first_ = a != b && suits(b, a);
    factor_ = factor_first_ ? a : b;
    out = factor_first_ ? b : a;
    if (out != factor_ && !suits(out, factor_))
      plan.refuse("its inputs have the shapes " + text(a) + " and " + text(b),
                  "multiply layers of one shape, or images by one number for each channel");
    channels_ = out == factor_ ? out.elements() : out.channels;
    overwrites_to_predict = !factor_first_;
    variant = {factor_first_ ? 1 : 0, channels_};
  }

  void forward(const Pass& p) const override {
    const mk_tensor &x = factor_first_ ? p.more_x[0] : p.x, &factor = factor_first_ ? p.x : p.more_x[0];
    p.submit(ops::multiply(p.lines(x, channels_), p.lines(factor, channels_), p.lines(p.y, channels_)));
  }
  // Skips gradients without memory, which nobody needs.
  void backward(Pass& p) const override {
    const mk_tensor &x = factor_first_ ? p.more_x[0] : p.x, &factor = factor_first_ ? p.x : p.more_x[0];
    const mk_tensor &dx = factor_first_ ? p.more_dx[0] : p.dx, &dfactor = factor_first_ ? p.dx : p.more_dx[0];
    const mk_tensor dy = p.lines(p.dy, channels_);
    if (dfactor.buffer != nullptr)
      p.submit(ops::multiply_grad_factor(dy, p.lines(x, channels_), p.lines(dfactor, channels_)));
    if (dx.buffer != nullptr) p.submit(ops::multiply(dy, p.lines(factor, channels_), p.lines(dx, channels_)));
  }
  std::string join_onnx(Export& to, const std::vector<std::string>& xs) const override {
    const size_t x = factor_first_ ? 1 : 0;
    std::string factor = xs[1 - x];
    if (factor_.flat && !out.flat)
      factor = to.graph.add(
          "Reshape", {factor, to.graph.constant(name + ".pixel", {4}, std::vector<int64_t>{0, out.channels, 1, 1})});
    return to.graph.add("Mul", {xs[x], factor});
  }

 private:
  // Returns whether the factor has one number for each channel of the images.
  static bool suits(const Shape& images, const Shape& factor) {
    return !images.flat && factor.height * factor.width == 1 && factor.channels == images.channels;
  }

  bool factor_first_;
  Shape factor_;
  int64_t channels_;  // numbers that each have a factor of their own
};

}  // namespace

extern constinit const LayerType kMultiply =
    joining_type<Multiply>("multiply", "product of two layers, or of images and one number for each of their channels");

}  // namespace mokume::cnn
