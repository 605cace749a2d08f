#include "train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forms.hpp"
#include "sdk/portable.hpp"

namespace mokume::cnn {
namespace {

double cosine_between(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + sdk::portable::cos_pi(share));
}

// Returns the finished share of the current wave of CosineAnnealingWarmRestarts.
double share_of_wave(const Schedule& s, int64_t epoch) {
  int64_t length = s.t_0;
  while (epoch >= length) {
    epoch -= length;
    length *= s.t_mult;
  }
  return double(epoch) / length;
}

double reduced(const Schedule& s, double rate, int64_t times) {
  for (int64_t k = 0; k < times; ++k) {
    const double next = std::max(rate * s.factor, s.min_lr);
    if (rate - next > s.eps) rate = next;
  }
  return rate;
}

double rate_without_warmup(const Schedule& s, double base, const Progress& p) {
  const double epoch = p.step / p.steps_per_epoch;
  const double iters = s.total_iters > 0 ? s.total_iters : p.epochs, done = std::min(epoch, iters) / iters;
  switch (s.kind) {
    case Schedule::Kind::constant:
      break;
    case Schedule::Kind::step:
      return base * sdk::portable::pow(s.gamma, std::floor(epoch / s.step_size));
    case Schedule::Kind::exponential:
      return base * sdk::portable::pow(s.gamma, epoch);
    case Schedule::Kind::cosine:
      return cosine_between(base, s.eta_min, epoch / p.epochs);
    case Schedule::Kind::one_cycle: {
      const double total = p.epochs * p.steps_per_epoch, at = p.step;
      const double first = s.max_lr / s.div_factor, last = first / s.final_div_factor;
      const double top = std::max(s.pct_start * total - 1, 0.0);
      if (at <= top) return cosine_between(first, s.max_lr, top > 0 ? at / top : 1);
      return cosine_between(s.max_lr, last, std::min(1.0, (at - top) / (total - 1 - top)));
    }
    case Schedule::Kind::cosine_restarts:
      return cosine_between(base, s.eta_min, share_of_wave(s, p.step / p.steps_per_epoch));
    case Schedule::Kind::linear:
      return base * (s.start_factor + (s.end_factor - s.start_factor) * done);
    case Schedule::Kind::polynomial:
      return base * sdk::portable::pow(1 - done, s.power);
    case Schedule::Kind::reduce_on_plateau:
      return reduced(s, base, p.reductions);
  }
  return base;
}

Forms<Schedule>::Form plateau_form() {
  using S = Schedule;
  return {"reduce_on_plateau",
          S::Kind::reduce_on_plateau,
          "multiplied by factor once the validation loss (or the training loss without validation) stops falling",
          {{positive("factor", 0.9999999, "0.1", "factor of the rate"), &S::factor},
           {integer("patience", 0, 1e9, "10", "epochs without a better loss that change nothing"), &S::patience},
           {real("threshold", 0, 1e30, "0.0001", "improvement that counts as better"), &S::threshold},
           {text("threshold_mode", "\"rel\"", "rel|abs", "whether threshold is a share of the best loss"),
            &S::threshold_mode},
           {integer("cooldown", 0, 1e9, "0", "epochs after a change that do not count"), &S::cooldown},
           {real("min_lr", 0, 1e6, "0.0", "the lowest rate"), &S::min_lr},
           {real("eps", 0, 1e6, "1e-8", "smaller changes of the rate are skipped"), &S::eps}}};
}

}  // namespace

const Forms<Schedule>& schedules() {
  using S = Schedule;
  using Kind = S::Kind;
  using Key = Forms<S>::Key;
  static const Key gamma = {positive("gamma", 1e3, "0.1", "factor of the rate"), &S::gamma};
  static const Key eta_min = {real("eta_min", 0, 1e6, "0.0", "the rate at the end of a wave"), &S::eta_min};
  static const Key total_iters = {
      integer("total_iters", 0, 1e9, "5", "epochs in which the rate changes; 0: all epochs"), &S::total_iters};
  std::vector<Forms<S>::Form> all = {
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
      {"cosine_restarts",
       Kind::cosine_restarts,
       "half cosine waves, one after the other",
       {{integer("T_0", 1, 1e9, "10", "epochs of the first wave"), &S::t_0},
        {integer("T_mult", 1, 1e3, "1", "ratio of the length of a wave to that of the previous one"), &S::t_mult},
        eta_min}},
      {"linear",
       Kind::linear,
       "from one factor of the rate to another, epoch by epoch",
       {{positive("start_factor", 1e3, "0.3333333333333333", "factor in the first epoch"), &S::start_factor},
        {real("end_factor", 0, 1e3, "1.0", "factor after total_iters epochs"), &S::end_factor},
        total_iters}},
      {"polynomial",
       Kind::polynomial,
       "falls to 0 as a power of the epochs that remain",
       {total_iters, {positive("power", 1e3, "1.0", "the exponent"), &S::power}}},
      plateau_form(),
  };
  for (Forms<S>::Form& form : all) {
    form.keys.push_back({younger(integer("warmup_epochs", 0, 1e6, "0",
                                         "epochs in which the rate rises, before the "
                                         "schedule begins")),
                         &S::warmup_epochs});
    form.keys.push_back({younger(positive("warmup_factor", 1, "0.3333333333333333",
                                          "the rate of the first step, as a share of that after the warm-up")),
                         &S::warmup_factor});
  }
  static const Forms<S> made(std::move(all));
  return made;
}

double learning_rate(const Schedule& s, double base, const Progress& p) {
  const int64_t steps = s.warmup_epochs * p.steps_per_epoch;
  Progress rest = p;
  rest.epochs = std::max<int64_t>(1, p.epochs - s.warmup_epochs);
  rest.step = std::max<int64_t>(0, p.step - steps);
  const double rate = rate_without_warmup(s, base, rest);
  return p.step >= steps ? rate : rate * (s.warmup_factor + (1 - s.warmup_factor) * (double(p.step) / steps));
}

int64_t reductions(const Schedule& s, std::span<const double> losses) {
  if (s.kind != Schedule::Kind::reduce_on_plateau) return 0;
  double best = std::numeric_limits<double>::infinity();
  int64_t bad = 0, cooling = 0, times = 0;
  for (size_t epoch = size_t(s.warmup_epochs); epoch < losses.size(); ++epoch) {
    const double limit = s.threshold_mode == "rel" ? best * (1 - s.threshold) : best - s.threshold;
    if (losses[epoch] < limit) {
      best = losses[epoch];
      bad = 0;
    } else {
      ++bad;
    }
    if (cooling > 0) {
      --cooling;
      bad = 0;
    }
    if (bad <= s.patience) continue;
    ++times;
    cooling = s.cooldown;
    bad = 0;
  }
  return times;
}

}  // namespace mokume::cnn
