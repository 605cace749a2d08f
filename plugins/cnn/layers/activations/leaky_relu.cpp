// leaky_relu returns x if x > 0, else negative_slope * x, like PyTorch's LeakyReLU.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kLeakyReluKeys[] = {real("negative_slope", 0, 1e6, "0.01", "slope below 0")};

class LeakyRelu : public ActivationLayer {
 public:
  LeakyRelu(const Values& v, LayerPlan& plan)
      : ActivationLayer(plan, ops::Activation::leaky_relu, v.real("negative_slope")),
        slope_(v.real("negative_slope")) {}

  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("PRelu", {x, number(to, "slope", slope_)});
  }

 private:
  double slope_;
};

}  // namespace

extern constinit const LayerType kLeakyRelu =
    layer_type<LeakyRelu>("leaky_relu", "max(0, x) + negative_slope * min(0, x)", kLeakyReluKeys);

}  // namespace mokume::cnn
