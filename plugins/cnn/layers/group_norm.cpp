// group_norm and layer_norm: normalise each row by itself, as PyTorch's GroupNorm and LayerNorm. layer_norm normalises
// all elements of a row, each of which has a weight and a bias.
#include "sdk/ops/group_norm.hpp"

#include "layers/export.hpp"
#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kLayerKeys[] = {positive("eps", 1, "1e-5", "added to the variance")};
constexpr mk_param kGroupKeys[] = {
    integer("num_groups", 1, 1e6, "", "groups of adjacent channels; as many as channels: each for itself"),
    positive("eps", 1, "1e-5", "added to the variance"),
};

class RowNorm : public Layer {
 public:
  RowNorm(const Values& v, Plan& plan, const ops::NormGroups& groups, const Shape& affine)
      : Layer(plan), groups_(groups), eps_(v.real("eps")) {
    const auto vector = [&](const char* name, double start) {
      Parameter p{name, affine, 1, Parameter::Kind::features};
      p.start = start;
      return plan.parameter(p);
    };
    weight_ = vector("weight", 1);
    bias_ = vector("bias", 0);
    buffers = {{2 * groups_.groups, 0}};
    variant = {groups_.pixels, groups_.groups};
  }

  void forward(const Pass& p) const override {
    p.submit(
        ops::group_norm(p.x, vector(p.weights, weight_), vector(p.weights, bias_), groups_, eps_, p.y, moments(p)));
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    p.submit(ops::group_norm_grad(p.dy, p.x, vector(p.weights, weight_), moments(p), groups_, vector(to, weight_),
                                  vector(to, bias_), p.dx));
  }

 protected:
  const ops::NormGroups groups_;
  const double eps_;
  int weight_, bias_;

 private:
  mk_tensor vector(const ParameterVector& all, int parameter) const {
    const mk_tensor t = all.whole(parameter);
    return sdk::vector(t.buffer, groups_.channels, t.offset);
  }
  mk_tensor moments(const Pass& p) const { return p.buffers[0].matrix(p.x.rows, 2 * groups_.groups); }
};

class LayerNorm : public RowNorm {
 public:
  LayerNorm(const Values& v, Plan& plan) : RowNorm(v, plan, {1, plan.in.elements(), 1}, plan.in) {}

  std::string to_onnx(Export& to, const std::string& x) const override {
    const auto rank = int64_t(onnx_shape(in).size());
    const std::vector<int64_t> shape = onnx_shape(in);
    const auto shaped = [&](int parameter) {
      const std::string name = to.parameter(parameter);
      if (rank == 1) return name;
      return to.graph.add("Reshape", {name, to.graph.constant(name + ".shape", {rank}, shape)});
    };
    return to.graph.add("LayerNormalization", {x, shaped(weight_), shaped(bias_)},
                        sdk::onnx::Attributes().set("axis", -rank).set("epsilon", float(eps_)));
  }
};

class GroupNorm : public RowNorm {
 public:
  GroupNorm(const Values& v, Plan& plan) : RowNorm(v, plan, groups_of(v, plan), {1, 1, plan.in.channels}) {}

  // InstanceNormalization is in every version of ONNX: its channels are the groups, and weight and bias follow it.
  std::string to_onnx(Export& to, const std::string& x) const override {
    const std::string name = this->name;
    const std::vector<int64_t> apart{0, groups_.groups, -1}, image{0, in.channels, in.height, in.width},
        channels{1, in.channels, 1, 1};
    const auto reshape = [&](const std::string& what, const char* called, const std::vector<int64_t>& shape) {
      return to.graph.add("Reshape", {what, to.graph.constant(name + called, {int64_t(shape.size())}, shape)});
    };
    const std::vector<float> ones(groups_.groups, 1.0F), zeros(groups_.groups, 0.0F);
    const std::string normed =
        to.graph.add("InstanceNormalization",
                     {reshape(x, ".apart", apart), to.graph.constant(name + ".ones", {groups_.groups}, ones),
                      to.graph.constant(name + ".zeros", {groups_.groups}, zeros)},
                     sdk::onnx::Attributes().set("epsilon", float(eps_)));
    const std::string scaled =
        to.graph.add("Mul", {reshape(normed, ".image", image), reshape(to.parameter(weight_), ".weights", channels)});
    return to.graph.add("Add", {scaled, reshape(to.parameter(bias_), ".biases", channels)});
  }

 private:
  static ops::NormGroups groups_of(const Values& v, const Plan& plan) {
    plan.need_images();
    const int64_t groups = v.integer("num_groups");
    if (plan.in.channels % groups != 0)
      plan.refuse(
          std::to_string(plan.in.channels) + " channels cannot be divided into " + std::to_string(groups) + " groups",
          "choose a num_groups that divides them");
    return {plan.in.height * plan.in.width, plan.in.channels, groups};
  }
};

}  // namespace

extern constinit const LayerType kLayerNorm =
    layer_type<LayerNorm>("layer_norm", "all elements of a row with mean 0 and variance 1", kLayerKeys);
extern constinit const LayerType kGroupNorm =
    layer_type<GroupNorm>("group_norm", "groups of channels of each image with mean 0 and variance 1", kGroupKeys);

}  // namespace mokume::cnn
