#include "isa/activations.hpp"

#include "isa/formulas.hpp"
#include "isa/independent.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

template <mk_activation kind>
void activate_all(const ActivationRows& rows) {
  constexpr int kKind = static_cast<int>(kind);
  const float leak = rows.slope;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    float* out = rows.out + r * rows.out_stride;
    if (rows.bias != nullptr) {
      const float* bias = rows.bias + r * rows.bias_stride;
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = activated(x[c] + bias[c], kKind, leak);
    } else {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) out[c] = activated(x[c], kKind, leak);
    }
  }
}

template <mk_activation kind>
void gradient_of_all(const ActivationGradRows& rows) {
  constexpr int kKind = static_cast<int>(kind);
  const float leak = rows.slope;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* grad = rows.grad + r * rows.grad_stride;
    const float* y = rows.y + r * rows.y_stride;
    float* dx = rows.dx + r * rows.dx_stride;
    MOKUME_INDEPENDENT
    for (int64_t c = 0; c < rows.columns; ++c) dx[c] = grad[c] * slope_at(y[c], kKind, leak);
  }
}

void activate(const ActivationRows& rows) {
  switch (rows.kind) {
    case mk_activation::leaky_relu:
      return activate_all<mk_activation::leaky_relu>(rows);
    case mk_activation::gelu:
      return activate_all<mk_activation::gelu>(rows);
    case mk_activation::gelu_tanh:
      return activate_all<mk_activation::gelu_tanh>(rows);
    case mk_activation::silu:
      return activate_all<mk_activation::silu>(rows);
    case mk_activation::tanh:
      return activate_all<mk_activation::tanh>(rows);
    case mk_activation::hard_sigmoid:
      return activate_all<mk_activation::hard_sigmoid>(rows);
    case mk_activation::hard_swish:
      return activate_all<mk_activation::hard_swish>(rows);
    default:
      return activate_all<mk_activation::sigmoid>(rows);
  }
}

void gradient(const ActivationGradRows& rows) {
  switch (rows.kind) {
    case mk_activation::leaky_relu:
      return gradient_of_all<mk_activation::leaky_relu>(rows);
    case mk_activation::gelu:
      return gradient_of_all<mk_activation::gelu>(rows);
    case mk_activation::gelu_tanh:
      return gradient_of_all<mk_activation::gelu_tanh>(rows);
    case mk_activation::silu:
      return gradient_of_all<mk_activation::silu>(rows);
    case mk_activation::tanh:
      return gradient_of_all<mk_activation::tanh>(rows);
    case mk_activation::hard_sigmoid:
      return gradient_of_all<mk_activation::hard_sigmoid>(rows);
    case mk_activation::hard_swish:
      return gradient_of_all<mk_activation::hard_swish>(rows);
    default:
      return gradient_of_all<mk_activation::sigmoid>(rows);
  }
}

}  // namespace

extern const ActivationLoops kActivationLoops;
const ActivationLoops kActivationLoops = {activate, gradient};

}  // namespace mokume::host::MOKUME_HOST_ISA
