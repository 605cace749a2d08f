// dropout sets random elements to zero during training, like PyTorch's Dropout.
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kDropoutKeys[] = {
    real("p", 0, 0.999999, "0.5", "share of the elements set to zero during training")};

class Dropout : public Layer {
 public:
  Dropout(const Values& v, LayerPlan& plan) : Layer(plan), p_(v.real("p")) {
    runs = p_ > 0;
    overwrites = keeps_zeros = true;
  }

  void forward(const Pass& p) const override {
    if (p.dropout != nullptr)
      drop(p, p.x, p.y);
    else if (!in_place)
      p.submit(ops::bias_act(p.x, {}, ops::Activation::none, p.y));
  }
  void backward(Pass& p) const override { drop(p, p.dy, p.dx); }
  std::string to_onnx(Export&, const std::string& x) const override { return x; }  // predictions drop nothing

 private:
  void drop(const Pass& p, const mk_tensor& from, const mk_tensor& to) const {
    ops::DropoutPlace place = *p.dropout;
    place.layer = index;
    p.submit(ops::dropout(from, p_, place, to));
  }

  double p_;
};

}  // namespace

extern constinit const LayerType kDropout =
    layer_type<Dropout>("dropout", "random zeros during training", kDropoutKeys);

}  // namespace mokume::cnn
