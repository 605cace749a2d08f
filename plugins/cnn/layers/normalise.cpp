// normalise computes (x - mean) / std, with constants or with the moments of each feature over the training rows.
#include "layers/export.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/affine_columns.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kNormaliseKeys[] = {
    real("mean", -1e30, 1e30, "0.0", "subtracted"),
    positive("std", 1e30, "1.0", "divided by"),
    flag("per_feature", "false", "use the mean and deviation of each feature over the training rows instead"),
};

enum { kShift, kScale };  // indices of the layer's buffers

class Normalise : public Layer {
 public:
  Normalise(const Values& v, LayerPlan& plan) : Layer(plan), mean_(v.real("mean")), deviation_(v.real("std")) {
    per_feature = v.flag("per_feature");
    if (per_feature && !plan.first) plan.refuse("per_feature needs the unchanged data", "make it the first layer");
    overwrites = true;
    buffers = {{0, in.elements()}, {0, in.elements()}};
  }

  void fill_buffers(const sdk::Device& device, std::span<const Slice> to) const override {
    const std::vector<float> shift(in.elements(), mean_), scale(in.elements(), 1 / deviation_);
    to[kShift].write(device, shift.data(), shift.size());
    to[kScale].write(device, scale.data(), scale.size());
  }
  void use_moments(const sdk::Device& device, std::span<const Slice> to, const std::vector<float>& mean,
                   const std::vector<float>& deviation) const override {
    const std::vector<float> scale = scales(deviation);
    to[kShift].write(device, mean.data(), mean.size());
    to[kScale].write(device, scale.data(), scale.size());
  }

  void forward(const Pass& p) const override {
    p.submit(ops::affine_columns(p.x, vector(p, kScale), vector(p, kShift), p.y));
  }
  void backward(Pass& p) const override { p.submit(ops::affine_columns(p.dy, vector(p, kScale), {}, p.dx)); }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<float> shift{static_cast<float>(mean_)}, scale{static_cast<float>(1 / deviation_)};
    if (per_feature) {
      shift = channels_first(to.mean, in);
      scale = channels_first(scales(to.deviation), in);
    }
    const std::vector<int64_t> shape = per_feature ? onnx_shape(in) : std::vector<int64_t>{1};
    const std::string prefix = std::to_string(index);
    const std::string shifted = to.graph.add("Sub", {x, to.graph.constant(prefix + ".mean", shape, shift)});
    return to.graph.add("Mul", {shifted, to.graph.constant(prefix + ".scale", shape, scale)});
  }

 private:
  static std::vector<float> scales(const std::vector<float>& deviation) {
    std::vector<float> scale;
    for (const float d : deviation) scale.push_back(d > 0 ? 1.0F / d : 1.0F);
    return scale;
  }
  static mk_tensor vector(const Pass& p, int buffer) { return p.buffers[buffer].vector(p.x.columns); }

  double mean_, deviation_;
};

}  // namespace

extern constinit const LayerType kNormalise = layer_type<Normalise>("normalise", "(x - mean) / std", kNormaliseKeys);

}  // namespace mokume::cnn
