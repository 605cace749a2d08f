// gelu returns x times the share of the standard normal distribution below x, like PyTorch's GELU.
#include <cmath>
#include <numbers>

#include "layers/activations/activation.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kGeluKeys[] = {
    text("approximate", "\"none\"", "none|tanh",
         "none: with the error function; tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 "
         "x^3)))")};

class Gelu : public ActivationLayer {
 public:
  Gelu(const Values& v, LayerPlan& plan)
      : ActivationLayer(plan, v.text("approximate") == "tanh" ? ops::Activation::gelu_tanh : ops::Activation::gelu),
        by_tanh_(v.text("approximate") == "tanh") {}

  // Composes gelu of other operators, because ONNX has Gelu only since opset 20.
  std::string to_onnx(Export& to, const std::string& x) const override {
    const auto add = [&](const char* op, const std::vector<std::string>& read) { return to.graph.add(op, read); };
    const std::string one = number(to, "one", 1), half = number(to, "half", 0.5);
    std::string inner;
    if (by_tanh_) {
      const std::string cubic = number(to, "cubic", 0.044715),
                        factor = number(to, "factor", std::sqrt(2 / std::numbers::pi));
      const std::string square = add("Mul", {x, x});
      const std::string sum = add("Add", {one, add("Mul", {square, cubic})});
      inner = add("Tanh", {add("Mul", {add("Mul", {x, sum}), factor})});
    } else {
      inner = add("Erf", {add("Mul", {x, number(to, "root", 1 / std::numbers::sqrt2)})});
    }
    return add("Mul", {add("Mul", {x, half}), add("Add", {one, inner})});
  }

 private:
  bool by_tanh_;
};

}  // namespace

extern constinit const LayerType kGelu =
    layer_type<Gelu>("gelu", "the input times the share of a standard normal distribution below it", kGeluKeys);

}  // namespace mokume::cnn
