// Computes what all weights share in a step of an optimizer (optimizer.cl), once, in double: in float, 1 - b would lose
// half its digits.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "sdk/ops/optimizer_step.hpp"
#include "sdk/portable.hpp"

namespace mokume::formulas {

// `clip` is 0 without a limit. `shrink` is 1 - lr * weight_decay for adamw, and 1 for others.
template <class Numbers>
void set_step_numbers(const ops::OptimizerSettings& o, int64_t t, Numbers& to) {
  const bool adam = o.is_adam(), decoupled = o.kind == ops::Optimizer::adamw;
  const auto rounded = [](double x) { return static_cast<float>(x); };
  to.lr = rounded(o.lr);
  to.decay = rounded(decoupled ? 0 : o.weight_decay);
  to.a = rounded(o.a);
  to.one_minus_a = rounded(1 - o.a);
  to.b = rounded(o.b);
  to.one_minus_b = rounded(1 - o.b);
  to.eps = rounded(o.eps);
  to.step_size = adam ? rounded(o.lr / (1 - sdk::portable::power(o.a, t))) : 0;
  to.to_root = adam ? rounded(1 / std::sqrt(1 - sdk::portable::power(o.b, t))) : 0;
  to.shrink = rounded(decoupled ? 1 - o.lr * o.weight_decay : 1);
  to.clip = o.clip > 0 ? std::max(rounded(o.clip), FLT_MIN) : 0;
  to.first = t == 1 ? 1 : 0;
  to.nesterov = o.nesterov != 0 ? 1 : 0;
}

}  // namespace mokume::formulas
