// Implements the base of group_norm and layer_norm, which normalise groups of elements within each row.
#pragma once

#include "layers/export.hpp"
#include "layers/initialisation.hpp"
#include "layers/layer.hpp"
#include "sdk/ops/group_norm.hpp"

namespace mokume::cnn {

// `affine` is the shape of the weight and of the bias.
class RowNorm : public Layer {
 public:
  RowNorm(const Values& v, LayerPlan& plan, const ops::NormGroups& groups, const Shape& affine)
      : Layer(plan), groups_(groups), eps_(v.real("eps")) {
    const auto vector = [&](const char* called, double start) {
      Parameter p{called, affine, 1, Parameter::Kind::features};
      p.start = start;
      return plan.parameter(p);
    };
    weight_ = vector("weight", norm_start(v));
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

}  // namespace mokume::cnn
