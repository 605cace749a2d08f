// Implements the base of all activation layers except relu. No layer absorbs them; each runs its own op.
#pragma once

#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {

// Adds the hard sigmoid of `x` to the graph, and returns its name.
inline std::string onnx_hard_sigmoid(Export& to, const std::string& x) {
  return to.graph.add("HardSigmoid", {x}, sdk::onnx::Attributes().set("alpha", 1.0F / 6).set("beta", 0.5F));
}

// Works element by element. As in sdk/ops/bias_act.hpp, the gradient comes either from the output, which may share the
// memory of the input, or from the input, which the layer then keeps.
class ActivationLayer : public Layer {
 public:
  ActivationLayer(const LayerPlan& plan, ops::Activation kind, double slope = 0)
      : Layer(plan), kind_(kind), slope_(slope) {
    overwrites = reads_output = !ops::takes_input(kind);
    variant = {static_cast<int64_t>(kind)};
  }

  void forward(const Pass& p) const override { p.submit(ops::bias_act(p.x, {}, kind_, p.y, slope_)); }
  void backward(Pass& p) const override {
    p.submit(ops::act_grad(p.dy, ops::takes_input(kind_) ? p.x : p.y, kind_, p.dx, slope_));
  }

 protected:
  // Adds a constant scalar to the graph, under a name that begins with the layer's index.
  std::string number(Export& to, const char* called, double value) const {
    return to.graph.constant(std::to_string(index) + "." + called, {1}, std::vector<float>{static_cast<float>(value)});
  }

 private:
  ops::Activation kind_;
  double slope_;
};

}  // namespace mokume::cnn
