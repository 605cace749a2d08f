// hard_swish returns x times its hard_sigmoid, like PyTorch's Hardswish.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

class HardSwish : public ActivationLayer {
 public:
  HardSwish(const Values&, LayerPlan& plan) : ActivationLayer(plan, ops::Activation::hard_swish) {}

  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("Mul", {x, onnx_hard_sigmoid(to, x)});
  }
};

}  // namespace

extern constinit const LayerType kHardSwish = layer_type<HardSwish>("hard_swish", "the input times its hard_sigmoid");

}  // namespace mokume::cnn
