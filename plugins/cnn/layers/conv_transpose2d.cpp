// conv_transpose2d computes the gradient of a convolution as a layer, like PyTorch's ConvTranspose2d. Its output is the
// image over which the window slides, and its input has a pixel for each window, so the layer uses the ops of conv2d in
// other roles. It absorbs a relu that follows it.
#include "layers/export.hpp"
#include "layers/initialisation.hpp"
#include "layers/sliding_window.hpp"
#include "sdk/ops/conv2d.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kConvTranspose2dKeys[] = {
    integer("out_channels", 1, 1e6, "", "channels of the output"),
    integer("kernel_size", 1, 1024, "", "height of the window, and its width without kernel_width"),
    integer("kernel_width", 0, 1024, "0", "width of the window; 0: the same as kernel_size"),
    integer("stride", 1, 1024, "1", "step of the window in the output"),
    integer("stride_width", 0, 1024, "0", "step of the window to the right; 0: as stride"),
    integer("padding", 0, 1023, "0", "pixels cut off around the output"),
    integer("padding_width", -1, 1023, "-1", "pixels cut off on the left and on the right; -1: as padding"),
    integer("output_padding", 0, 1023, "0", "pixels added below and on the right of the output; below the stride"),
    integer("dilation", 1, 1024, "1", "distance between neighbouring pixels of the window"),
    integer("groups", 1, 1e6, "1", "groups of channels that do not mix"),
    flag("bias", "true", "one number added per channel of the output"),
    kInitialisation,
    kInitGain,
    kInitStd,
    kBiasInitialisation,
};

class ConvTranspose2d : public Layer {
 public:
  ConvTranspose2d(const Values& v, LayerPlan& plan) : Layer(plan), window_(window(v, plan)) {
    out = {window_.height, window_.width, window_.channels};
    const Shape patch{window_.kernel_h, window_.kernel_w, window_.group_channels()};
    plan.weight_and_bias(patch, in.channels, out.channels, Parameter::Kind::convolution, v, &weight_, &bias_);
    if (bias_ >= 0) buffers = {{0, out.channels}};  // receives an unused gradient
    backward_alone = true;
    products = double(in.elements()) * window_.patch();
    workspace = window_.out_pixels() * window_.patch();
    variant = variant_of(window_);
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  void forward(const Pass& p) const override {
    p.submit(ops::conv2d_grad_input(p.x, p.weights.whole(weight_), window_, p.y));
    if (bias_ < 0 && !ends_in_relu()) return;
    const mk_tensor pixels = sdk::matrix(p.y.buffer, p.y.rows * out.height * out.width, out.channels, 0, p.y.offset);
    p.submit(ops::bias_act(pixels, p.weights.whole(bias_), activation, pixels));
  }
  // The gradient of the bias equals that of a depthwise convolution with a window of one pixel.
  void gradients(const Pass& p, const ParameterVector& to) const override {
    p.submit(ops::conv2d_grad_weight(p.dy, p.x, window_, to.whole(weight_), {}));
    if (bias_ < 0) return;
    ops::Window pixel{out.height, out.width, out.channels};
    pixel.groups = out.channels;
    p.submit(ops::conv2d_grad_weight(p.dy, p.dy, pixel, p.buffers[0].matrix(1, out.channels), to.whole(bias_)));
  }
  void backward(Pass& p) const override {
    p.submit(ops::conv2d(p.dy, p.weights.whole(weight_), {}, window_, ops::Activation::none, p.dx));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<std::string> operands{x, to.parameter(weight_)};
    if (bias_ >= 0) operands.push_back(to.parameter(bias_));
    const std::vector<int64_t> added{window_.height - shortest(in.height, window_.kernel_h, window_.stride_h, 0),
                                     window_.width - shortest(in.width, window_.kernel_w, window_.stride_w, 1)};
    return to.graph.add("ConvTranspose", operands, onnx_convolution(window_).set("output_padding", added));
  }

 private:
  // Returns the length of a side of the output without output_padding.
  int64_t shortest(int64_t size, int64_t kernel, int64_t stride, int side) const {
    return (size - 1) * stride - 2 * (side == 0 ? window_.pad_h : window_.pad_w) + window_.dilation_h * (kernel - 1) +
           1;
  }

  static ops::Window window(const Values& v, const LayerPlan& plan) {
    const Shape& in = plan.in;
    const int64_t added = v.integer("output_padding"), groups = v.integer("groups");
    ops::Window w = window_of_keys(plan, v);
    w.dilation_h = w.dilation_w = v.integer("dilation");
    w.channels = v.integer("out_channels");
    w.groups = groups;
    if (in.channels % groups != 0 || w.channels % groups != 0)
      plan.refuse("its " + std::to_string(in.channels) + " input and " + std::to_string(w.channels) +
                      " output channels cannot be divided into " + std::to_string(groups) + " groups",
                  "change out_channels or groups");
    if (added >= std::min(w.stride_h, w.stride_w))
      plan.refuse("output_padding " + std::to_string(added) + " must be smaller than the stride", "lower it");
    if (w.pad_h >= w.extent_h() || w.pad_w >= w.extent_w())
      plan.refuse("padding must be smaller than the kernel", "lower it");
    w.height = (in.height - 1) * w.stride_h - 2 * w.pad_h + w.extent_h() + added;
    w.width = (in.width - 1) * w.stride_w - 2 * w.pad_w + w.extent_w() + added;
    if (w.height < 1 || w.width < 1) plan.refuse("its padding cuts off the whole output", "lower padding");
    if (w.height > ops::kMaxSide || w.width > ops::kMaxSide)
      plan.refuse("a side of its output exceeds 2^20 pixels", "lower the stride");
    return w;
  }

  ops::Window window_;
  int weight_, bias_;
};

}  // namespace

extern constinit const LayerType kConvTranspose2d = layer_type<ConvTranspose2d>(
    "conv_transpose2d", "transposed convolution, from small to large images", kConvTranspose2dKeys);

}  // namespace mokume::cnn
