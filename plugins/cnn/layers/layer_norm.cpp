// layer_norm normalises all elements of a row, with a weight and a bias for each element, like PyTorch's LayerNorm.
#include "layers/row_norm.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kLayerNormKeys[] = {positive("eps", 1, "1e-5", "added to the variance"), kNormInitialisation};

class LayerNorm : public RowNorm {
 public:
  LayerNorm(const Values& v, LayerPlan& plan) : RowNorm(v, plan, {1, plan.in.elements(), 1}, plan.in) {}

  std::string to_onnx(Export& to, const std::string& x) const override {
    const auto rank = int64_t(onnx_shape(in).size());
    const std::vector<int64_t> shape = onnx_shape(in);
    const auto shaped = [&](int parameter) {
      const std::string kept = to.parameter(parameter);
      if (rank == 1) return kept;
      return to.graph.add("Reshape", {kept, to.graph.constant(kept + ".shape", {rank}, shape)});
    };
    return to.graph.add("LayerNormalization", {x, shaped(weight_), shaped(bias_)},
                        sdk::onnx::Attributes().set("axis", -rank).set("epsilon", float(eps_)));
  }
};

}  // namespace

extern constinit const LayerType kLayerNorm =
    layer_type<LayerNorm>("layer_norm", "gives the elements of a row mean 0 and variance 1", kLayerNormKeys);

}  // namespace mokume::cnn
