// Computes the learning rate over the course of training.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mokume::cnn {

struct Schedule {
  enum class Kind {
    constant,
    step,
    exponential,
    cosine,
    one_cycle,
    cosine_restarts,
    linear,
    polynomial,
    reduce_on_plateau
  } kind = Kind::constant;
  int64_t step_size = 1;
  double gamma = 0.1, eta_min = 0, max_lr = 0, pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
  int64_t t_0 = 10, t_mult = 1;  // for cosine_restarts
  int64_t total_iters = 5;       // for linear and polynomial; 0 means the number of epochs
  double start_factor = 1.0 / 3, end_factor = 1, power = 1;
  // Only reduce_on_plateau uses the members in the following three lines.
  double factor = 0.1, threshold = 1e-4, min_lr = 0, eps = 1e-8;
  int64_t patience = 10, cooldown = 0;
  std::string threshold_mode = "rel";
  // Before the schedule, the rate rises from warmup_factor times the initial rate to the initial rate.
  int64_t warmup_epochs = 0;
  double warmup_factor = 1.0 / 3;
};

template <class T>
class Forms;  // see forms.hpp

const Forms<Schedule>& schedules();

// Holds the completed steps of training and its planned length.
struct Progress {
  int64_t step = 0;  // number of completed steps
  int64_t steps_per_epoch = 1, epochs = 1;
  int64_t reductions = 0;  // for reduce_on_plateau, see reductions()
};

// Returns the learning rate of the next step. The formulas are PyTorch's closed forms of StepLR, ExponentialLR,
// CosineAnnealingLR, CosineAnnealingWarmRestarts, LinearLR, PolynomialLR (by epoch) and OneCycleLR (by step, cosine,
// without momentum), and its ReduceLROnPlateau. A warm-up is LinearLR by step, followed by the schedule for the
// remaining epochs, as in SequentialLR.
double learning_rate(const Schedule& schedule, double base, const Progress& progress);

// Returns how often reduce_on_plateau has lowered the rate after epochs with these losses, like PyTorch's
// ReduceLROnPlateau with mode "min". Epochs of the warm-up do not count. Returns 0 for other schedules.
int64_t reductions(const Schedule& schedule, std::span<const double> losses);

}  // namespace mokume::cnn
