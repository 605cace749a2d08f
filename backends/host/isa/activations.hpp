// Declares the loops of activations other than relu (sdk/ops/bias_act.hpp), under the rules of loops.hpp.
#pragma once

#include <cstdint>

#include "abi/op.h"

namespace mokume::host {

struct ActivationRows {
  const float* x;
  const float* bias;  // null if there is none
  float* out;         // may be x
  int64_t rows, columns, x_stride, out_stride, bias_stride;
  mk_activation kind;  // leaky_relu or a later kind
  float slope;
};

struct ActivationGradRows {
  const float* grad;
  const float* y;
  float* dx;  // may be grad
  int64_t rows, columns, grad_stride, y_stride, dx_stride;
  mk_activation kind;
  float slope;
};

struct ActivationLoops {
  void (*activate)(const ActivationRows& rows);
  void (*gradient)(const ActivationGradRows& rows);
};

}  // namespace mokume::host
