// tanh returns the hyperbolic tangent, like PyTorch's Tanh.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

class Tanh : public ActivationLayer {
 public:
  Tanh(const Values&, LayerPlan& plan) : ActivationLayer(plan, ops::Activation::tanh) {}

  std::string to_onnx(Export& to, const std::string& x) const override { return to.graph.add("Tanh", {x}); }
};

}  // namespace

extern constinit const LayerType kTanh = layer_type<Tanh>("tanh", "the hyperbolic tangent");

}  // namespace mokume::cnn
