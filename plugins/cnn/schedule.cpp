#include "schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "forms.hpp"

namespace mokume::cnn {
namespace {

double cosine_between(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace

const Forms<Schedule>& schedules() {
  using S = Schedule;
  using Kind = S::Kind;
  static const Forms<S>::Key gamma = {positive("gamma", 1e3, "0.1", "factor of the rate"), &S::gamma};
  static const Forms<S> all = {{
      {"constant", Kind::constant, "a constant rate", {}},
      {"step",
       Kind::step,
       "multiplied by gamma every step_size epochs",
       {gamma, {integer("step_size", 1, 1e9, "1", "epochs between two changes"), &S::step_size}}},
      {"exponential", Kind::exponential, "multiplied by gamma every epoch", {gamma}},
      {"cosine",
       Kind::cosine,
       "half a cosine wave over the epochs",
       {{real("eta_min", 0, 1e6, "0.0", "the rate at the end of the cosine, after the last epoch"), &S::eta_min}}},
      {"one_cycle",
       Kind::one_cycle,
       "rises and falls along cosines, step by step",
       {{positive("max_lr", 1e6, "0.01", "the largest rate"), &S::max_lr},
        {real("pct_start", 0, 1, "0.3", "share of the steps in which the rate rises"), &S::pct_start},
        {real("div_factor", 1, 1e9, "25.0", "max_lr divided by the first rate"), &S::div_factor},
        {real("final_div_factor", 1, 1e12, "1e4", "the first rate divided by the last"), &S::final_div_factor}}},
  }};
  return all;
}

double learning_rate(const Schedule& s, double base, int64_t step, int64_t steps_per_epoch, int64_t epochs) {
  const double epoch = step / steps_per_epoch;
  switch (s.kind) {
    case Schedule::Kind::constant:
      break;
    case Schedule::Kind::step:
      return base * std::pow(s.gamma, std::floor(epoch / s.step_size));
    case Schedule::Kind::exponential:
      return base * std::pow(s.gamma, epoch);
    case Schedule::Kind::cosine:
      return cosine_between(base, s.eta_min, epoch / epochs);
    case Schedule::Kind::one_cycle: {
      const double total = epochs * steps_per_epoch, at = step;
      const double first = s.max_lr / s.div_factor, last = first / s.final_div_factor;
      const double top = std::max(s.pct_start * total - 1, 0.0);
      if (at <= top) return cosine_between(first, s.max_lr, top > 0 ? at / top : 1);
      return cosine_between(s.max_lr, last, std::min(1.0, (at - top) / (total - 1 - top)));
    }
  }
  return base;
}

}  // namespace mokume::cnn
