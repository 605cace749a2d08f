// Computes the activations of sdk/ops/bias_act.hpp and their derivatives in double.
#pragma once

#include <cmath>
#include <numbers>

#include "sdk/ops/bias_act.hpp"

namespace mokume::host::reference {

inline double logistic(double v) { return 1 / (1 + std::exp(-v)); }

// Return the argument of the logistic function in gelu_tanh, and the derivative of this argument.
inline double gelu_argument(double x) { return std::sqrt(8 / std::numbers::pi) * (x + 0.044715 * x * x * x); }
inline double gelu_argument_slope(double x) { return std::sqrt(8 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x); }

inline double normal_share(double x) { return (1 + std::erf(x / std::numbers::sqrt2)) / 2; }

// Returns x / 6 + 1 / 2 between 0 and 1, or a NaN for a NaN.
inline double hard_share(double x) { return std::isnan(x) ? x : std::fmin(std::fmax(x / 6 + 0.5, 0), 1); }

// Computes all activations except none and relu, which are exact in float.
inline double activated(ops::Activation activation, double x, double slope) {
  switch (activation) {
    case ops::Activation::leaky_relu:
      return x > 0 ? x : slope * x;
    case ops::Activation::gelu:
      return x * normal_share(x);
    case ops::Activation::gelu_tanh:
      return x * logistic(gelu_argument(x));
    case ops::Activation::silu:
      return x * logistic(x);
    case ops::Activation::tanh:
      return std::tanh(x);
    case ops::Activation::hard_sigmoid:
      return hard_share(x);
    case ops::Activation::hard_swish:
      return x * hard_share(x);
    default:
      return logistic(x);
  }
}

// Returns s + x s (1 - s) v_slope with s = logistic(v). A product 0 * inf at an infinite x is 0.
inline double logistic_unit_slope(double x, double v, double v_slope) {
  const double e = std::exp(-std::fabs(v)), bump = e / ((1 + e) * (1 + e));
  return logistic(v) + (bump > 0 ? x * bump * v_slope : 0);
}

// Returns the derivative. y is the output of the activation, or its input (see ops::takes_input()).
inline double activation_slope(ops::Activation activation, double y, double slope) {
  switch (activation) {
    case ops::Activation::leaky_relu:
      return y > 0 ? 1 : slope;
    case ops::Activation::gelu: {
      const double density = std::exp(-y * y / 2) / std::sqrt(2 * std::numbers::pi);
      return normal_share(y) + (density > 0 ? y * density : 0);
    }
    case ops::Activation::gelu_tanh:
      return logistic_unit_slope(y, gelu_argument(y), gelu_argument_slope(y));
    case ops::Activation::silu:
      return logistic_unit_slope(y, y, 1);
    case ops::Activation::tanh:
      return 1 - y * y;
    case ops::Activation::hard_sigmoid:
      return y > 0 && y < 1 ? 1.0 / 6 : 0;
    case ops::Activation::hard_swish:
      if (y <= -3) return 0;
      return y >= 3 ? 1 : y / 3 + 0.5;
    default:
      return y * (1 - y);
  }
}

}  // namespace mokume::host::reference
