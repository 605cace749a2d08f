// gemm: out = activation(alpha * op(a) * op(b) + beta * out + bias) (f32), where op(x) is x or its transpose.
//
//   inputs   a: M x K, or K x M if transposed    b: K x N, or N x K if transposed
//            bias: vector of N, the same in every row (n_inputs is 2 without it)
//   outputs  out: M x N; must not overlap a or b. If beta is 0, its old contents, such as NaNs, have no effect.
//   attributes transpose_a and transpose_b, 0 or 1; activation: none or relu; alpha; beta; may_round, 0 or 1: the
//   device may round a and b as the choice `precision` asks (abi/backend.h)
#pragma once

#include <cmath>

#include "sdk/ops/bias_act.hpp"
#include "sdk/tensor.hpp"

namespace mokume::ops {

// Splitting a product at rows, columns or terms that are multiples of this number changes no bit of the result. Parts
// along k run in order, the later parts with beta = 1. The backends' own kernels guarantee this on every device except
// the oracle. CLBlast's kernels do not: each split has its own bits.
inline constexpr int64_t kGemmCut = 512;

struct GemmShape {
  int64_t m, n, k;
};

inline mk_op gemm(const mk_tensor& a, bool transpose_a, const mk_tensor& b, bool transpose_b, const mk_tensor& out,
                  float alpha = 1.0F, float beta = 0.0F) {
  mk_op op = sdk::make_op(MK_OP_GEMM, {a, b}, {out});
  op.gemm = {transpose_a, transpose_b, Activation::none, alpha, beta, 0};
  return op;
}

// Computes a gemm with an activation and, unless bias.buffer == NULL, a bias.
inline mk_op gemm_bias_act(const mk_tensor& a, const mk_tensor& b, const mk_tensor& bias, Activation activation,
                           const mk_tensor& out, float beta = 0.0F) {
  mk_op op = gemm(a, false, b, false, out, 1.0F, beta);
  if (bias.buffer != nullptr) op.inputs[op.n_inputs++] = bias;
  op.gemm.activation = activation;
  return op;
}

// Returns the op with the attribute may_round: a device may round both operands as the choice `precision` asks.
inline mk_op rounding(mk_op gemm) {
  gemm.gemm.may_round = 1;
  return gemm;
}

MOKUME_ATTRIBUTES(kGemmAttributes, mk_gemm, MK_GEMM(MOKUME_ATTRIBUTE));

inline GemmShape gemm_shape(const mk_op& op) {
  return {op.outputs[0].rows, op.outputs[0].columns,
          op.gemm.transpose_a != 0 ? op.inputs[0].rows : op.inputs[0].columns};
}

inline void check_gemm(const mk_op& op) {
  const auto [m, n, k] = gemm_shape(op);
  sdk::check_view("gemm", "out", op.outputs[0], MK_F32);
  sdk::check_operand("gemm", "a", op.inputs[0], op.gemm.transpose_a != 0 ? k : m, op.gemm.transpose_a != 0 ? m : k);
  sdk::check_operand("gemm", "b", op.inputs[1], op.gemm.transpose_b != 0 ? n : k, op.gemm.transpose_b != 0 ? k : n);
  check_activation("gemm", op.gemm.activation, Activation::relu);
  if (op.n_inputs < 3) return;
  sdk::check_operand("gemm", "bias", op.inputs[2], 1, n);
}

// Requires |out - oracle| <= tolerance * (|alpha| * (|a| * |b|) + |beta * out| + |bias|), elementwise, with absolute
// values inside. The bound for an fp32 sum of K terms in any order (Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, section 3.1) is K * 2^-24. Blocked sums stay far below it, so sqrt(K) with a margin suffices.
inline double tolerance_gemm(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(gemm_shape(op).k)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_gemm(const mk_op& op) {
  const auto [m, n, k] = gemm_shape(op);
  const double dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  return {2 * dm * dn * dk, 4 * (dm * dk + dk * dn + dm * dn * (op.gemm.beta != 0 ? 2 : 1))};
}

}  // namespace mokume::ops
