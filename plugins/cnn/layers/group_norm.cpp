// group_norm normalises groups of channels within each image, like PyTorch's GroupNorm.
#include "layers/row_norm.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kGroupNormKeys[] = {
    integer("num_groups", 1, 1e6, "",
            "groups of adjacent channels; with as many groups as channels, each channel is normalised by itself"),
    positive("eps", 1, "1e-5", "added to the variance"),
    kNormInitialisation,
};

class GroupNorm : public RowNorm {
 public:
  GroupNorm(const Values& v, LayerPlan& plan) : RowNorm(v, plan, groups_of(v, plan), {1, 1, plan.in.channels}) {}

  // Uses InstanceNormalization, which every version of ONNX has, with the groups as channels, and adds weight and bias.
  std::string to_onnx(Export& to, const std::string& x) const override {
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
  static ops::NormGroups groups_of(const Values& v, const LayerPlan& plan) {
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

extern constinit const LayerType kGroupNorm = layer_type<GroupNorm>(
    "group_norm", "gives each group of channels of an image mean 0 and variance 1", kGroupNormKeys);

}  // namespace mokume::cnn
