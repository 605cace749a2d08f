// flatten treats an image as a row of features. No data moves; the shape keeps the image's dimensions, because they
// determine PyTorch's order of a linear layer's inputs.
#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Flatten : public Layer {
 public:
  Flatten(const Values&, LayerPlan& plan) : Layer(plan) {
    runs = false;
    out.flat = true;
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    return in.flat ? x : to.graph.add("Flatten", {x}, sdk::onnx::Attributes().set("axis", int64_t{1}));
  }
};

}  // namespace

extern constinit const LayerType kFlatten = layer_type<Flatten>("flatten", "turns images into rows of features");

}  // namespace mokume::cnn
