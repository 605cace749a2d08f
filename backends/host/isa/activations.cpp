#include "isa/activations.hpp"

#include <string.h>

#include "isa/exp.hpp"
#include "isa/independent.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Returns erf(x) within 1.5 ulp: x + x P(x^2) up to 1, and 1 - exp(-Q(|x|)) above, which is 1 from 4 on. P and Q are
// minimax fits of degrees 6 and 7 with relative errors of 2^-29 and 2^-35.
inline float erf_one(float x) {
  const float a = __builtin_fabsf(x), square = x * x, t = a < 4.0F ? a : 4.0F;
  float p = 7.85395459e-5F;
  p = p * square - 0.000801022456F;
  p = p * square + 0.00518833147F;
  p = p * square - 0.0268538147F;
  p = p * square + 0.112835854F;
  p = p * square - 0.37612626F;
  p = p * square + 0.128379166F;
  float q = 2.16976496e-5F;
  q = q * t - 0.000441473094F;
  q = q * t + 0.00420528697F;
  q = q * t - 0.025210347F;
  q = q * t + 0.108422108F;
  q = q * t + 0.633216381F;
  q = q * t + 1.12958026F;
  q = q * t - 0.000188469174F;
  const float large = __builtin_copysignf(1.0F - exp_one(-q), x);
  return a > 1.0F ? large : x + x * p;  // NaN takes the second branch
}

// Returns tanh(x) within 3 ulp: an odd polynomial with a relative error of 1e-8 up to 0.55, and 1 - 2 / (exp(2|x|) + 1)
// above.
inline float tanh_one(float x) {
  const float a = __builtin_fabsf(x), square = x * x, t = a < 10.0F ? a : 10.0F;
  float p = -0.00661022775F;
  p = p * square + 0.0213093888F;
  p = p * square - 0.0539094284F;
  p = p * square + 0.133331135F;
  p = p * square - 0.333333313F;
  const float large = __builtin_copysignf(1.0F - 2.0F / (exp_one(2.0F * t) + 1.0F), x);
  return a > 0.55F ? large : x + p * square * x;  // NaN takes the second branch
}

// Holds the logistic function s of v, and s (1 - s), both computed without cancellation.
struct Logistic {
  float value, bump;
};

inline Logistic logistic(float v) {
  const float e = exp_one(-__builtin_fabsf(v)), r = 1.0F / (1.0F + e);
  return {v < 0.0F ? e * r : r, e * r * r};
}

constexpr float kGelu1 = 1.59576912F;    // sqrt(8 / pi)
constexpr float kGelu3 = 0.0713548163F;  // 0.044715 sqrt(8 / pi)
constexpr float kRootHalf = 0.707106781F;
constexpr float kSixth = 0.166666667F;
constexpr float kDensity = 0.398942280F;  // 1 / sqrt(2 pi)

// Returns x * factor, or x if x is a NaN, because an instruction set may propagate either of two NaNs.
inline float scaled(float x, float factor) {
  const float product = x * factor;
  return x == x ? product : x;
}

struct Leaky {
  static float of(float x, float leak) { return x > 0.0F ? x : leak * x; }
  static float slope(float y, float leak) { return y > 0.0F ? 1.0F : leak; }
};
struct Gelu {
  static float of(float x, float) { return 0.5F * x * (1.0F + erf_one(x * kRootHalf)); }
  static float slope(float x, float) {
    const float density = kDensity * exp_one(-0.5F * x * x), term = x * density;
    return 0.5F * (1.0F + erf_one(x * kRootHalf)) + (density > 0.0F ? term : 0.0F);
  }
};
struct GeluTanh {
  static float of(float x, float) { return scaled(x, logistic(x * (kGelu1 + kGelu3 * x * x)).value); }
  static float slope(float x, float) {
    const float square = x * x;
    const Logistic s = logistic(x * (kGelu1 + kGelu3 * square));
    const float term = x * s.bump * (kGelu1 + 3.0F * kGelu3 * square);
    return s.value + (s.bump > 0.0F ? term : 0.0F);
  }
};
struct Silu {
  static float of(float x, float) { return scaled(x, logistic(x).value); }
  static float slope(float x, float) {
    const Logistic s = logistic(x);
    const float term = x * s.bump;
    return s.value + (s.bump > 0.0F ? term : 0.0F);
  }
};
struct Tanh {
  static float of(float x, float) { return tanh_one(x); }
  static float slope(float y, float) { return 1.0F - y * y; }
};
struct Sigmoid {
  static float of(float x, float) { return logistic(x).value; }
  static float slope(float y, float) { return y * (1.0F - y); }
};

// Returns x / 6 + 1 / 2 between 0 and 1. Lets a NaN pass through.
inline float hard_share(float x) {
  const float h = x * kSixth + 0.5F;
  const float most = h > 1.0F ? 1.0F : h;
  return most < 0.0F ? 0.0F : most;
}
struct HardSigmoid {
  static float of(float x, float) { return hard_share(x); }
  static float slope(float y, float) {
    const float most = y < 1.0F ? kSixth : 0.0F;
    return y > 0.0F ? most : 0.0F;
  }
};
struct HardSwish {
  static float of(float x, float) { return scaled(x, hard_share(x)); }
  static float slope(float x, float) {
    const float line = x * (2.0F * kSixth) + 0.5F, most = x >= 3.0F ? 1.0F : line;
    return x <= -3.0F ? 0.0F : most;
  }
};

template <class F>
void activate_all(const ActivationRows& rows) {
  const float leak = rows.slope;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    float* out = rows.out + r * rows.out_stride;
    if (rows.bias != nullptr) {
      const float* bias = rows.bias + r * rows.bias_stride;
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = F::of(x[c] + bias[c], leak);
    } else {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = F::of(x[c], leak);
    }
  }
}

template <class F>
void gradient_of_all(const ActivationGradRows& rows) {
  const float leak = rows.slope;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* grad = rows.grad + r * rows.grad_stride;
    const float* y = rows.y + r * rows.y_stride;
    float* dx = rows.dx + r * rows.dx_stride;
    MOKUME_INDEPENDENT
    for (int64_t c = 0; c < rows.columns; ++c) dx[c] = grad[c] * F::slope(y[c], leak);
  }
}

void activate(const ActivationRows& rows) {
  switch (rows.kind) {
    case mk_activation::leaky_relu:
      return activate_all<Leaky>(rows);
    case mk_activation::gelu:
      return activate_all<Gelu>(rows);
    case mk_activation::gelu_tanh:
      return activate_all<GeluTanh>(rows);
    case mk_activation::silu:
      return activate_all<Silu>(rows);
    case mk_activation::tanh:
      return activate_all<Tanh>(rows);
    case mk_activation::hard_sigmoid:
      return activate_all<HardSigmoid>(rows);
    case mk_activation::hard_swish:
      return activate_all<HardSwish>(rows);
    default:
      return activate_all<Sigmoid>(rows);
  }
}

void gradient(const ActivationGradRows& rows) {
  switch (rows.kind) {
    case mk_activation::leaky_relu:
      return gradient_of_all<Leaky>(rows);
    case mk_activation::gelu:
      return gradient_of_all<Gelu>(rows);
    case mk_activation::gelu_tanh:
      return gradient_of_all<GeluTanh>(rows);
    case mk_activation::silu:
      return gradient_of_all<Silu>(rows);
    case mk_activation::tanh:
      return gradient_of_all<Tanh>(rows);
    case mk_activation::hard_sigmoid:
      return gradient_of_all<HardSigmoid>(rows);
    case mk_activation::hard_swish:
      return gradient_of_all<HardSwish>(rows);
    default:
      return gradient_of_all<Sigmoid>(rows);
  }
}

}  // namespace

extern const ActivationLoops kActivationLoops;
const ActivationLoops kActivationLoops = {activate, gradient};

}  // namespace mokume::host::MOKUME_HOST_ISA
