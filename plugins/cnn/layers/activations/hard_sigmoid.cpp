// hard_sigmoid returns x / 6 + 1 / 2 between 0 and 1, like PyTorch's Hardsigmoid.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

class HardSigmoid : public ActivationLayer {
 public:
  HardSigmoid(const Values&, LayerPlan& plan) : ActivationLayer(plan, ops::Activation::hard_sigmoid) {}

  std::string to_onnx(Export& to, const std::string& x) const override { return onnx_hard_sigmoid(to, x); }
};

}  // namespace

extern constinit const LayerType kHardSigmoid =
    layer_type<HardSigmoid>("hard_sigmoid", "a sixth of the input plus a half, at least 0 and at most 1");

}  // namespace mokume::cnn
