// conv2d is a convolution, like PyTorch's Conv2d. Its op includes a relu that follows it. Padding other than zeros is a
// step before the convolution.
#include "sdk/ops/conv2d.hpp"

#include "layers/export.hpp"
#include "layers/initialisation.hpp"
#include "layers/pixels.hpp"
#include "layers/sliding_window.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kConv2dKeys[] = {
    integer("out_channels", 1, 1e6, "", "filters"),
    integer("kernel_size", 1, 1024, "", "height of the window, and its width without kernel_width"),
    integer("stride", 1, 1024, "1", "step of the window"),
    integer("padding", 0, 1023, "0", "zeros around the image"),
    flag("bias", "true", "one number added per filter"),
    kKernelWidth,
    kStrideWidth,
    kPaddingWidth,
    younger(integer("dilation", 1, 1024, "1", "distance between neighbouring pixels of the window")),
    younger(integer("groups", 1, 1e6, "1",
                    "groups of channels, of which a filter sees one; as many as input channels: depthwise")),
    younger(flag("same", "false", "choose the padding so that the output has the size of the input; needs stride 1")),
    younger(text("padding_mode", "\"zeros\"", "zeros|reflect|replicate|circular",
                 "pixels around the image: zeros, its mirror image, its border, or those of the opposite side")),
    kConvInitialisation,
    kInitGain,
    kInitStd,
    kBiasInitialisation,
};

enum { kPadded, kPaddedIndices };  // indices of the layer's buffers for padding other than zeros

class Conv2d : public Layer {
 public:
  Conv2d(const Values& v, LayerPlan& plan) : Layer(plan), window_(window(v, plan)) {
    pad(v.text("padding_mode"), plan);
    out = {window_.out_height(), window_.out_width(), v.integer("out_channels")};
    if (out.channels % window_.groups != 0)
      plan.refuse("its " + std::to_string(out.channels) + " filters cannot be divided into " +
                      std::to_string(window_.groups) + " groups",
                  "change out_channels or groups");
    plan.weight_and_bias({window_.kernel_h, window_.kernel_w, window_.group_channels()}, out.channels, out.channels,
                         Parameter::Kind::convolution, v, &weight_, &bias_);
    check_initialisation(v.text("initialisation"), plan);
    backward_alone = true;
    products = double(out.elements()) * window_.patch();
    workspace = window_.out_pixels() * window_.patch();
    variant = variant_of(window_);
    variant.push_back(pads_ ? 1 : 0);
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  void fill_buffers(const sdk::Device& device, std::span<const Slice> to) const override {
    if (pads_) pixels_.fill(device, to[kPaddedIndices]);
  }
  void forward(const Pass& p) const override {
    if (pads_) p.submit(pixels_.gather(p.x, p.buffers[kPaddedIndices], padded(p)));
    p.submit(ops::conv2d(pads_ ? padded(p) : p.x, p.weights.whole(weight_), p.weights.whole(bias_), window_, activation,
                         p.y));
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    p.submit(ops::conv2d_grad_weight(pads_ ? padded(p) : p.x, p.dy, window_, to.whole(weight_), to.whole(bias_)));
  }
  void backward(Pass& p) const override {
    // No later code reads the padded image, so the gradient overwrites that image.
    p.relu_done = p.x_is_relu && !pads_;
    p.submit(ops::conv2d_grad_input(p.dy, p.weights.whole(weight_), window_, pads_ ? padded(p) : p.dx,
                                    p.relu_done ? p.x : mk_tensor{}));
    if (pads_) p.submit(pixels_.gradient(padded(p), p.buffers[kPaddedIndices], p.dx));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<std::string> operands{pads_ ? pixels_.to_onnx(to, x, name) : x, to.parameter(weight_)};
    if (bias_ >= 0) operands.push_back(to.parameter(bias_));
    return to.graph.add("Conv", operands, onnx_convolution(window_));
  }

 private:
  void check_initialisation(const std::string& how, const LayerPlan& plan) const {
    if ((how == "dirac" || how == "whitening") && window_.groups > 1)
      plan.refuse("the initialisation " + how + " needs filters that see all channels", "set groups to 1");
    if (how != "whitening") return;
    constexpr int64_t kMostPatch = 300;
    const int64_t patch = window_.patch();
    if (!plan.first)
      plan.refuse("the initialisation whitening needs the images of the data, but another layer comes before",
                  "use it in the first layer");
    if (patch > kMostPatch)
      plan.refuse("its window has " + std::to_string(patch) + " numbers, and whitening takes up to 300",
                  "use a smaller kernel_size");
    if (out.channels != 2 * patch)
      plan.refuse("whitening gives two filters for each number of its window, but out_channels is " +
                      std::to_string(out.channels),
                  "set out_channels to " + std::to_string(2 * patch));
    if (window_.dilated()) plan.refuse("whitening needs a window of adjacent pixels", "set dilation to 1");
  }

  mk_tensor padded(const Pass& p) const { return p.buffers[kPadded].matrix(p.x.rows, window_.image()); }

  // Moves the padding from the window to the image.
  void pad(const std::string& mode, const LayerPlan& plan) {
    ops::Window& w = window_;
    pads_ = mode != "zeros" && (w.pad_h + w.pad_w > 0 || w.lopsided());
    if (!pads_) return;
    const auto most = [&](int64_t size) {
      return mode == "reflect" ? size - 1 : mode == "circular" ? size : ops::kMaxSide;
    };
    if (w.pad_h + w.more_h > most(w.height) || w.pad_w + w.more_w > most(w.width))
      plan.refuse("padding_mode \"" + mode + "\" has no pixels for so much padding of an image of " + text(in),
                  "lower padding");
    pixels_ = Pixels(in, side(mode, w.height, w.pad_h, w.more_h), side(mode, w.width, w.pad_w, w.more_w));
    w.height = pixels_.shape().height;
    w.width = pixels_.shape().width;
    w.pad_h = w.pad_w = w.more_h = w.more_w = 0;
    buffers = {{w.image(), 0}, pixels_.indices()};
  }

  // Returns the source pixel of each position along a padded side.
  static std::vector<int32_t> side(const std::string& mode, int64_t size, int64_t before, int64_t more) {
    std::vector<int32_t> pixels;
    for (int64_t i = -before; i < size + before + more; ++i) {
      int64_t at = std::clamp<int64_t>(i, 0, size - 1);
      if (mode == "circular") at = (i + size) % size;
      if (mode == "reflect") at = i < size ? std::abs(i) : 2 * (size - 1) - i;
      pixels.push_back(int32_t(at));
    }
    return pixels;
  }

  // Builds the window. For an odd sum of padding, PyTorch's "same" puts the larger half after the image.
  static ops::Window window(const Values& v, const LayerPlan& plan) {
    ops::Window w = window_of_keys(plan, v);
    w.dilation_h = w.dilation_w = v.integer("dilation");
    w.groups = v.integer("groups");
    if (w.channels % w.groups != 0)
      plan.refuse("its input of " + text(plan.in) + " cannot be divided into " + std::to_string(w.groups) + " groups",
                  "change groups to a divisor of " + std::to_string(w.channels));
    if (v.flag("same")) {
      if (w.stride_h != 1 || w.stride_w != 1) plan.refuse("same needs stride 1", "give padding instead");
      if (w.pad_h != 0 || w.pad_w != 0) plan.refuse("same chooses the padding itself", "remove padding or same");
      const int64_t rows = w.extent_h() - 1, columns = w.extent_w() - 1;
      w.pad_h = rows / 2;
      w.pad_w = columns / 2;
      w.more_h = rows % 2;
      w.more_w = columns % 2;
    }
    check_fit(plan, w);
    return w;
  }

  ops::Window window_;  // window over the padded image
  bool pads_ = false;
  Pixels pixels_;
  int weight_, bias_;
};

}  // namespace

extern constinit const LayerType kConv2d = layer_type<Conv2d>("conv2d", "convolution", kConv2dKeys);

}  // namespace mokume::cnn
