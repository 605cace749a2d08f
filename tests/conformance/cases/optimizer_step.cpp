#include <cmath>

#include "problem.hpp"

namespace mokume::conformance {
namespace {

using ops::Optimizer;
using ops::OptimizerSettings;

struct Step {
  std::string name;
  Size size;
  int64_t n;
  int64_t t = 5;  // number of the step; at step 1, all states are 0
  Layout grad{}, weight{};
  float gradients = 1;  // the range is [-gradients, gradients)
  float second_moment = 1;
};

Case step_case(const std::string& kind, const OptimizerSettings& o, const Step& s) {
  return {kind + "_" + s.name, s.size, [=] {
            Problem p;
            const mk_tensor grad = p.random(1, s.n, s.grad, -s.gradients, s.gradients);
            const mk_tensor weight = p.random(1, s.n, s.weight);
            const bool squares =
                o.kind == Optimizer::rmsprop || o.kind == Optimizer::adadelta;  // the state is a mean of squares
            const float high = s.t == 1 ? 0 : s.gradients;
            mk_tensor state{}, state2{}, state3{};
            if (o.states() > 0)
              state = p.random(1, s.n, {s.grad.offset + 1, 0}, squares ? 0 : -high, squares ? high * high : high);
            if (o.states() > 1)
              state2 = p.random(1, s.n, {s.weight.offset + 2, 0}, o.kind == Optimizer::rmsprop ? -high : 0,
                                o.kind == Optimizer::rmsprop ? high : high * high * s.second_moment);
            if (o.states() > 2) state3 = p.random(1, s.n, {s.grad.offset + 3, 0}, 0, high * high * s.second_moment);
            const mk_tensor norm2 = o.clip > 0
                                        ? p.floats(1, 1, {3, 0},
                                                   [=](int64_t, int64_t) {
                                                     return s.gradients * s.gradients * static_cast<float>(s.n) / 3;
                                                   })
                                        : mk_tensor{};
            p.op = ops::optimizer_step(grad, weight, state, state2, o, s.t, norm2, state3);
            return p;
          }};
}

std::vector<Case> cases() {
  const std::pair<const char*, OptimizerSettings> kinds[] = {
      {"adam", {Optimizer::adam, 1e-3, 0, 0.9, 0.999, 1e-8}},
      {"adam_decay", {Optimizer::adam, 0.01, 0.01, 0.8, 0.99, 1e-8}},
      {"adamw", {Optimizer::adamw, 0.01, 0.1, 0.8, 0.99, 1e-8}},
      {"adam_clip", {Optimizer::adam, 0.01, 0.01, 0.8, 0.99, 1e-8, false, 0.5}},
      {"adamw_clip", {Optimizer::adamw, 0.01, 0.01, 0.8, 0.99, 1e-8, false, 2}},
      {"amsgrad", {Optimizer::adam, 0.01, 0.01, 0.8, 0.99, 1e-8, false, 0, true}},
      {"amsgrad_w_clip", {Optimizer::adamw, 0.01, 0.1, 0.8, 0.6, 1e-8, false, 0.5, true}},
      {"sgd_nesterov", {Optimizer::sgd, 0.05, 1e-4, 0.9, 0, 0, true}},
      {"sgd_dampening", {Optimizer::sgd, 0.05, 1e-4, 0.9, 0.25, 0}},
      {"sgd_nesterov_dampening", {Optimizer::sgd, 0.05, 1e-4, 0.9, 0.25, 0, true}},
      {"sgd_clip", {Optimizer::sgd, 0.1, 0.01, 0, 0, 0, false, 1}},
      {"sgd_momentum_clip", {Optimizer::sgd, 0.1, 0.01, 0.9, 0, 0, false, 1}},
      {"rmsprop_clip", {Optimizer::rmsprop, 0.01, 1e-3, 0.9, 0, 1e-8, false, 1}},
      {"rmsprop_momentum_clip", {Optimizer::rmsprop, 0.01, 1e-3, 0.9, 0.5, 1e-8, false, 1}},
      {"adadelta_clip", {Optimizer::adadelta, 0.5, 1e-3, 0.95, 0, 1e-6, false, 1}},
      {"sgd", {Optimizer::sgd, 0.1, 0, 0, 0, 0}},
      {"sgd_decay", {Optimizer::sgd, 0.1, 0.01, 0, 0, 0}},
      {"sgd_momentum", {Optimizer::sgd, 0.05, 1e-4, 0.9, 0, 0}},
      {"rmsprop", {Optimizer::rmsprop, 0.01, 0, 0.99, 0, 1e-8}},
      {"rmsprop_momentum", {Optimizer::rmsprop, 0.01, 1e-3, 0.9, 0.5, 1e-8}},
      {"adadelta", {Optimizer::adadelta, 1, 0, 0.9, 0, 1e-6}},
      {"adadelta_decay", {Optimizer::adadelta, 0.5, 1e-3, 0.95, 0, 1e-6}},
  };
  const Step steps[] = {
      {"17", Size::tiny, 17},
      {"1", Size::tiny, 1},
      {"129_offsets", Size::tiny, 129, 3, {3, 0}, {1, 0}},
      {"33_first_step", Size::tiny, 33, 1},
      {"33_second_step", Size::tiny, 33, 2, {0, 0}, {2, 0}},
      {"33_late", Size::tiny, 33, 1000000},
      {"33_no_gradient", Size::tiny, 33, 1, {}, {}, 0},
      {"33_small_gradients", Size::tiny, 33, 7, {}, {}, 1e-12F},
      {"33_large_gradients", Size::tiny, 33, 7, {}, {}, 1e12F},
      {"none", Size::tiny, 0},
      {"100003", Size::normal, 100003, 11, {1, 0}, {0, 0}},
  };
  std::vector<Case> list;
  for (const auto& [kind, settings] : kinds)
    for (const Step& step : steps) list.push_back(step_case(kind, settings, step));
  list.push_back(
      step_case("sgd_decay", {Optimizer::sgd, 0.1, 0.01, 0, 0, 0}, {"large_17000000", Size::large, 17000000}));
  return list;
}

// Holds the sums of the magnitudes of the terms of one element: its weight and its states after the step.
struct Magnitudes {
  double of[4];
};

Magnitudes magnitudes(const OptimizerSettings& o, double t, double grad, double weight, double state, double state2,
                      double state3) {
  const double g = grad + (o.kind == Optimizer::adamw ? 0 : o.weight_decay * weight);
  const double decayed = o.a * state, squared = g * g;
  switch (o.kind) {
    case Optimizer::sgd: {
      const double s = o.a == 0 || t == 1 ? g : decayed + (1 - o.b) * g;
      return {{weight + o.lr * (o.nesterov ? g + o.a * s : s), s, 0, 0}};
    }
    case Optimizer::adam:
    case Optimizer::adamw: {
      const double s = decayed + (1 - o.a) * g, u = o.b * state2 + (1 - o.b) * squared;
      const double v = o.amsgrad ? std::max(u, state3) : u,
                   root = std::sqrt(v) / std::sqrt(1 - std::pow(o.b, t)) + o.eps;
      return {{weight + o.lr / (1 - std::pow(o.a, t)) * s / root, s, u, v}};
    }
    case Optimizer::rmsprop: {
      const double s = decayed + (1 - o.a) * squared;
      const double u = o.b * state2 + g / (std::sqrt(s) + o.eps);
      return {{weight + o.lr * u, s, u, 0}};
    }
    case Optimizer::adadelta: {
      const double s = decayed + (1 - o.a) * squared;
      const double d = std::sqrt(state2 + o.eps) / std::sqrt(s + o.eps) * g;
      return {{weight + o.lr * d, s, o.a * state2 + (1 - o.a) * d * d, 0}};
    }
  }
  return {};
}

std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const OptimizerSettings settings = ops::optimizer_of(p.op);
  const double norm = p.op.n_inputs == 2 ? std::sqrt(p.at(p.op.inputs[1], 0, 0)) : 0;
  const double factor = settings.clip > 0 ? std::min(1.0, settings.clip / (norm + 1e-6)) : 1;
  std::vector<double> result;
  for (int64_t i = 0; i < p.op.inputs[0].columns; ++i) {
    const auto size = [&](uint32_t o) { return o < p.op.n_outputs ? std::fabs(p.at(p.op.outputs[o], 0, i)) : 0; };
    result.push_back(magnitudes(settings, static_cast<double>(p.op.optimizer_step.t),
                                factor * std::fabs(p.at(p.op.inputs[0], 0, i)), size(0), size(1), size(2), size(3))
                         .of[output]);
  }
  return result;
}

const AddCases kAdded{{MK_OP_OPTIMIZER_STEP, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
