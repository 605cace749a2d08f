// silu returns x / (1 + exp(-x)), like PyTorch's SiLU.
#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

class Silu : public ActivationLayer {
 public:
  Silu(const Values&, LayerPlan& plan) : ActivationLayer(plan, ops::Activation::silu) {}

  std::string to_onnx(Export& to, const std::string& x) const override {
    return to.graph.add("Mul", {x, to.graph.add("Sigmoid", {x})});
  }
};

}  // namespace

extern constinit const LayerType kSilu = layer_type<Silu>("silu", "the input times its sigmoid, x / (1 + exp(-x))");

}  // namespace mokume::cnn
