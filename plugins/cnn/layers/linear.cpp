// linear is a fully connected layer, like PyTorch's Linear. Its op includes a relu that follows it. If the optimizer
// has a fused op, the layer takes its step in the backward pass, in one pass over its weight (docs/adr/0010).
#include "layers/export.hpp"
#include "layers/initialisation.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/linear_update.hpp"

namespace mokume::cnn {
namespace {

constexpr mk_param kLinearKeys[] = {
    integer("out_features", 1, 1e9, "", "outputs"),
    flag("bias", "true", "one number added per output"),
    kInitialisation,
    kInitGain,
    kInitStd,
    kBiasInitialisation,
};

// Returns the columns of a layer's input that correspond to the given rows of its weight.
mk_tensor columns_of(const mk_tensor& x, const Extent& e) {
  return x.dtype == 0 ? x : sdk::matrix(x.buffer, x.rows, e.rows, x.row_stride, x.offset + e.first_row);
}

class Linear : public Layer {
 public:
  Linear(const Values& v, LayerPlan& plan) : Layer(plan) {
    if (!in.flat) plan.refuse("its input is an image of " + text(in), "put a flatten layer before it");
    out = {1, 1, v.integer("out_features"), true};
    plan.weight_and_bias(in, out.channels, out.channels, Parameter::Kind::linear, v, &weight_, &bias_);
    backward_alone = true;
    products = double(out.channels) * in.elements();
  }

  bool absorbs(const Layer& next) const override { return next.ends_in_relu(); }

  // The extents of the weight are consecutive along k, so the sum has the bits of a single product.
  void forward(const Pass& p) const override {
    for (const Extent& e : p.weights.extents(weight_)) {
      const mk_tensor x = columns_of(p.x, e), w = p.weights.at(e);
      const float keep = e.first_row == 0 ? 0 : 1;
      if (e.first_row + e.rows == p.x.columns)
        p.submit(ops::rounding(ops::gemm_bias_act(x, w, p.weights.whole(bias_), activation, p.y, keep)));
      else
        p.submit(ops::rounding(ops::gemm(x, false, w, false, p.y, 1, keep)));
    }
  }
  void gradients(const Pass& p, const ParameterVector& to) const override {
    bias_gradient(p, to);
    for (const Extent& e : to.extents(weight_))
      p.submit(ops::rounding(ops::gemm(columns_of(p.x, e), true, p.dy, false, to.at(e))));
  }
  void backward(Pass& p) const override {
    for (const Extent& e : p.weights.extents(weight_))
      p.submit(ops::rounding(ops::gemm(p.dy, false, p.weights.at(e), true, columns_of(p.dx, e))));
  }

  // The fused op pays off for layers with many outputs, whose weights dominate the memory traffic, and for layers with
  // one output, whose inputs dominate it. In between, the rows are too short.
  int stepped_parameter(const ops::OptimizerSettings& optimizer, int64_t batch) const override {
    return ops::has_linear_update(optimizer, batch) && (out.channels >= 16 || out.channels == 1) ? weight_ : -1;
  }
  void backward_with_step(Pass& p, const OwnStep& step) const override {
    // No later code reads the output of this relu, so the gradient overwrites that output while it is in the cache.
    if (p.x_is_relu) {
      p.dx = p.x;
      p.relu_done = p.dx_over_x = true;
    }
    bias_gradient(p, step.gradients);
    for (const Extent& e : p.weights.extents(weight_))
      p.submit(ops::linear_update(columns_of(p.x, e), p.dy, p.weights.at(e),
                                  step.states.empty() ? mk_tensor{} : step.states[0].at(e), columns_of(p.dx, e),
                                  step.settings, step.t, p.relu_done));
  }
  std::string to_onnx(Export& to, const std::string& x) const override {
    std::vector<std::string> operands{x, to.parameter(weight_)};
    if (bias_ >= 0) operands.push_back(to.parameter(bias_));
    return to.graph.add("Gemm", operands, sdk::onnx::Attributes().set("transB", int64_t{1}));
  }

 private:
  void bias_gradient(const Pass& p, const ParameterVector& to) const {
    if (bias_ >= 0) p.submit(ops::gemm(p.ones->vector(p.dy.rows), false, p.dy, false, to.whole(bias_)));
  }

  int weight_, bias_;
};

}  // namespace

extern constinit const LayerType kLinear = layer_type<Linear>("linear", "fully connected", kLinearKeys);

}  // namespace mokume::cnn
