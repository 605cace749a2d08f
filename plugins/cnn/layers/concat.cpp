// concat joins the channels of several images of one size, or the features of several rows. The layer joins rows that
// were images by channel, too, which matches PyTorch's order of their features.
#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Concat : public Layer {
 public:
  Concat(const Values&, LayerPlan& plan) : Layer(plan) {
    if (plan.inputs.size() < 2) plan.refuse("it joins nothing", "name two layers or more in its inputs");
    out.channels = 0;
    for (const Shape& shape : plan.inputs) {
      if (shape.flat != in.flat) plan.refuse("it joins images and rows of features", "flatten all of them or none");
      if (shape.height != in.height || shape.width != in.width)
        plan.refuse("its inputs have the shapes " + size(in) + " and " + size(shape),
                    "join images of one height and width, or put a linear layer after flatten");
      parts_.push_back(shape.channels);
      out.channels += shape.channels;
    }
    variant = parts_;
  }

  void forward(const Pass& p) const override { for_each_part(p, p.x, p.more_x, p.y, false); }
  void backward(Pass& p) const override { for_each_part(p, p.dx, p.more_dx, p.dy, true); }
  std::string join_onnx(Export& to, const std::vector<std::string>& xs) const override {
    return to.graph.add("Concat", xs, sdk::onnx::Attributes().set("axis", int64_t{1}));
  }

 private:
  // Returns the size of the images, including images that have become rows of features.
  static std::string size(Shape shape) {
    shape.flat = false;
    return text(shape);
  }

  // Copies the parts to their columns of the whole, or back. Skips gradients without memory, which nobody needs.
  void for_each_part(const Pass& p, const mk_tensor& first, const std::vector<mk_tensor>& others,
                     const mk_tensor& whole, bool back) const {
    const int64_t lines = whole.rows * out.height * out.width;
    int64_t at = 0;
    for (size_t i = 0; i < parts_.size(); at += parts_[i++]) {
      const mk_tensor& part = i == 0 ? first : others[i - 1];
      if (part.buffer == nullptr) continue;
      const mk_tensor dense = sdk::matrix(part.buffer, lines, parts_[i], 0, part.offset),
                      strided = sdk::matrix(whole.buffer, lines, parts_[i], out.channels, whole.offset + at);
      p.submit(back ? ops::bias_act(strided, {}, ops::Activation::none, dense)
                    : ops::bias_act(dense, {}, ops::Activation::none, strided));
    }
  }

  std::vector<int64_t> parts_;  // channels of each input
};

}  // namespace

extern constinit const LayerType kConcat =
    joining_type<Concat>("concat", "joins the channels of several images, or the features of several rows");

}  // namespace mokume::cnn
