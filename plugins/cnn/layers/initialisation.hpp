// Defines keys for the initial values of weights and biases. Names, formulas and defaults follow torch.nn.init.
#pragma once

#include <cmath>

#include "layers/layer.hpp"

namespace mokume::cnn {

constexpr mk_param kInitialisation = younger(
    text("initialisation", "\"default\"",
         "default|kaiming_uniform|kaiming_normal|xavier_uniform|xavier_normal|orthogonal|normal|trunc_normal|zeros",
         "initial weights; default: uniform within 1 / sqrt(fan_in), as PyTorch's layers; kaiming: for relu"));
constexpr mk_param kConvInitialisation = younger(
    text("initialisation", "\"default\"",
         "default|kaiming_uniform|kaiming_normal|xavier_uniform|xavier_normal|orthogonal|normal|trunc_normal|"
         "zeros|dirac|whitening",
         "initial weights, as for linear; dirac: pass on channels; whitening: decorrelate patches of the images"));
constexpr mk_param kInitGain =
    younger(positive("init_gain", 1e6, "1.0", "factor of the initial weights of xavier and orthogonal"));
constexpr mk_param kInitStd =
    younger(positive("init_std", 1e6, "1.0", "deviation of the initial weights of normal and trunc_normal"));
constexpr mk_param kBiasInitialisation = younger(text("bias_initialisation", "\"default\"", "default|zeros|ones",
                                                      "initial bias; default: uniform within 1 / sqrt(fan_in)"));
// Normalising layers have this key.
constexpr mk_param kNormInitialisation =
    younger(text("initialisation", "\"ones\"", "ones|zeros",
                 "initial weight; with zeros in its last norm, a residual block begins as its shortcut"));

// Sets the distribution of the weight, whose `bound` must be the default.
inline void initialise(Parameter& weight, const Values& v) {
  using Draw = Parameter::Draw;
  const bool patch = weight.kind == Parameter::Kind::convolution;
  const auto fan_in = double(weight.rows()),
             fan_out = double(weight.outputs * (patch ? weight.in.height * weight.in.width : 1));
  const double gain = v.real("init_gain"), std = v.real("init_std");
  const std::string how = v.text("initialisation");
  const auto set = [&](Draw draw, double size) {
    weight.draw = draw;
    weight.bound = size;
  };
  if (how == "kaiming_uniform") set(Draw::uniform, std::sqrt(6 / fan_in));
  if (how == "kaiming_normal") set(Draw::normal, std::sqrt(2 / fan_in));
  if (how == "xavier_uniform") set(Draw::uniform, gain * std::sqrt(6 / (fan_in + fan_out)));
  if (how == "xavier_normal") set(Draw::normal, gain * std::sqrt(2 / (fan_in + fan_out)));
  if (how == "orthogonal") set(Draw::orthogonal, gain);
  if (how == "normal") set(Draw::normal, std);
  if (how == "trunc_normal") set(Draw::truncated, std);
  if (how == "zeros") set(Draw::uniform, 0);
  if (how == "dirac") set(Draw::dirac, weight.bound);
  if (how == "whitening") set(Draw::whitening, 1);
}

inline void initialise_bias(Parameter& bias, const Values& v) {
  const std::string how = v.text("bias_initialisation");
  if (how == "default") return;
  bias.bound = 0;
  bias.start = how == "ones" ? 1 : 0;
}

inline double norm_start(const Values& v) { return v.text("initialisation") == "zeros" ? 0 : 1; }

}  // namespace mokume::cnn
