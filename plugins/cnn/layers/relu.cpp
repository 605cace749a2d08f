// relu: max(0, x). Convolutions and linear layers absorb a relu that follows them at once.
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Relu : public Layer {
 public:
  Relu(const Values&, Plan& plan) : Layer(plan) {
    activation = ops::Activation::relu;  // its gradient is the engine's, as of every layer that ends in one
    overwrites = keeps_zeros = true;
  }

  void forward(const Pass& p) const override { p.submit(ops::bias_act(p.x, {}, activation, p.y)); }
};

}  // namespace

extern constinit const LayerType kRelu = layer_type<Relu>("relu", "max(0, x)");

}  // namespace mokume::cnn
