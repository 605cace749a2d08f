// How the learning rate changes during a training.
#pragma once

#include <cstdint>

namespace mokume::cnn {

struct Schedule {
  enum class Kind { constant, step, exponential, cosine, one_cycle } kind = Kind::constant;
  int64_t step_size = 1;
  double gamma = 0.1, eta_min = 0, max_lr = 0, pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
};

template <class T>
class Forms;  // see forms.hpp

const Forms<Schedule>& schedules();

// Returns the learning rate of `step` (from 0) of a training of `epochs` with `steps_per_epoch` each. These are
// PyTorch's closed forms of StepLR, ExponentialLR, CosineAnnealingLR (by epoch) and OneCycleLR (by step, cosine,
// without momentum).
double learning_rate(const Schedule& schedule, double base, int64_t step, int64_t steps_per_epoch, int64_t epochs);

}  // namespace mokume::cnn
