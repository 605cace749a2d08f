// relu returns max(0, x). A convolution or linear layer absorbs a relu that follows it directly.
#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Relu : public Layer {
 public:
  Relu(const Values&, LayerPlan& plan) : Layer(plan) {
    activation = ops::Activation::relu;  // the engine applies the gradient of a relu, as for all layers that end in one
    overwrites = keeps_zeros = passes_gradient = true;
  }

  void forward(const Pass& p) const override { p.submit(ops::bias_act(p.x, {}, activation, p.y)); }
  std::string to_onnx(Export& to, const std::string& x) const override { return to.graph.add("Relu", {x}); }
};

}  // namespace

extern constinit const LayerType kRelu = layer_type<Relu>("relu", "max(0, x)");

}  // namespace mokume::cnn
