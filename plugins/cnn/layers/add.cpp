// add sums layers of one shape, as in residual networks. The layer absorbs a relu that follows it.
#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Add : public Layer {
 public:
  Add(const Values&, LayerPlan& plan) : Layer(plan) {
    if (plan.inputs.size() < 2) plan.refuse("it adds nothing", "name two layers or more in its inputs");
    for (const Shape& shape : plan.inputs)
      if (shape != in)
        plan.refuse("its inputs have the shapes " + text(in) + " and " + text(shape), "add layers of one shape");
    overwrites = passes_gradient = true;
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  void forward(const Pass& p) const override {
    mk_tensor sum = p.x;
    for (size_t i = 0; i < p.more_x.size(); ++i) {
      const bool last = i + 1 == p.more_x.size();
      p.submit(ops::bias_act(sum, p.more_x[i], last ? activation : ops::Activation::none, p.y));
      sum = p.y;
    }
  }
  std::string join_onnx(Export& to, const std::vector<std::string>& xs) const override {
    std::string sum = xs.front();
    for (size_t i = 1; i < xs.size(); ++i) sum = to.graph.add("Add", {sum, xs[i]});
    return sum;
  }
};

}  // namespace

extern constinit const LayerType kAdd = joining_type<Add>("add", "sum of layers of one shape");

}  // namespace mokume::cnn
