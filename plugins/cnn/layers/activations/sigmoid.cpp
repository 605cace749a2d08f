// sigmoid returns 1 / (1 + exp(-x)), like PyTorch's Sigmoid.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

class Sigmoid : public ActivationLayer {
 public:
  Sigmoid(const Values&, LayerPlan& plan) : ActivationLayer(plan, ops::Activation::sigmoid) {}

  std::string to_onnx(Export& to, const std::string& x) const override { return to.graph.add("Sigmoid", {x}); }
};

}  // namespace

extern constinit const LayerType kSigmoid = layer_type<Sigmoid>("sigmoid", "1 / (1 + exp(-x))");

}  // namespace mokume::cnn
