// lrn divides each number of an image by a power of the mean square of its neighbours in other channels, as in AlexNet
// and GoogLeNet. For an odd size, it is PyTorch's LocalResponseNorm.
#include "sdk/ops/lrn.hpp"

#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kLrnKeys[] = {
    integer("size", 1, 1e6, "",
            "number of adjacent channels in the mean; an even size includes one more after the channel"),
    real("alpha", 0, 1e6, "1e-4", "factor of the mean square"),
    positive("beta", 100, "0.75", "exponent of the divisor"),
    positive("k", 1e6, "1.0", "added to the mean square times alpha"),
};

class LocalResponseNorm : public Layer {
 public:
  LocalResponseNorm(const Values& v, LayerPlan& plan)
      : Layer(plan), form_{v.integer("size"), v.real("alpha"), v.real("beta"), v.real("k")} {
    plan.need_images();
    variant = {form_.size};
  }

  void forward(const Pass& p) const override {
    p.submit(ops::lrn(p.lines(p.x, in.channels), form_, p.lines(p.y, in.channels)));
  }
  void backward(Pass& p) const override {
    p.submit(ops::lrn_grad(p.lines(p.dy, in.channels), p.lines(p.x, in.channels), form_, p.lines(p.dx, in.channels)));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("LRN", {x},
                        sdk::onnx::Attributes()
                            .set("size", form_.size)
                            .set("alpha", float(form_.alpha))
                            .set("beta", float(form_.beta))
                            .set("bias", float(form_.bias)));
  }

 private:
  const ops::Lrn form_;
};

}  // namespace

extern constinit const LayerType kLrn = layer_type<LocalResponseNorm>(
    "lrn", "divides by a power of the mean square of adjacent channels, as in AlexNet", kLrnKeys);

}  // namespace mokume::cnn
