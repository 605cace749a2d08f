// softmax computes probabilities over the channels of each pixel or the features of a row, like PyTorch's Softmax with
// dim = 1. At the end of a classifier, the layer does nothing: loss and predictions compute the probabilities from its
// input, which avoids the loss of precision from taking the logarithm of a probability.
#include "sdk/ops/softmax.hpp"

#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

class Softmax : public Layer {
 public:
  Softmax(const Values&, LayerPlan& plan) : Layer(plan), channels_(in.flat ? in.elements() : in.channels) {
    runs = !plan.last;
    overwrites = reads_output = true;
    if (plan.last && !plan.classifies) plan.refuse("at the end, only a classifier can use it", "remove it");
  }

  void forward(const Pass& p) const override {
    p.submit(ops::softmax(p.lines(p.x, channels_), p.lines(p.y, channels_)));
  }
  void backward(Pass& p) const override {
    p.submit(ops::softmax_grad(p.lines(p.dy, channels_), p.lines(p.y, channels_), p.lines(p.dx, channels_)));
  }
  // At the end of a classifier, the exported graph computes probabilities anyway.
  std::string to_onnx(Export& to, const std::string& x) const override {
    return runs ? to.graph.add("Softmax", {x}, sdk::onnx::Attributes().set("axis", int64_t{1})) : x;
  }

 private:
  int64_t channels_;
};

}  // namespace

extern constinit const LayerType kSoftmax =
    layer_type<Softmax>("softmax", "probabilities of the channels of each pixel, or of the features of a row");

}  // namespace mokume::cnn
