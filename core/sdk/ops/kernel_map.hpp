// kernel_map: kernel values from dot products (f32), in LIBSVM's definitions.
//
//   inputs   dot: M x N, dot[r][c] = <x_r, y_c>;   norm_x: vector of M, norm_y: vector of N (squared norms; the
//            RBF kinds only, n_inputs is 1 for the others)
//   outputs  out: M x N; may be the same view as dot (in place), must not overlap it otherwise
//   integers [0] = KernelKind   reals [0] = gamma, [1] = coef0, [2] = degree (an integer >= 0)
//
//   linear      dot
//   polynomial  (gamma * dot + coef0)^degree
//   rbf         exp(-gamma * max(0, norm_x[r] + norm_y[c] - 2 * dot))
//   sigmoid     tanh(gamma * dot + coef0)
//   rbf_minus_one  the float of rbf, less 1
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

enum class KernelKind : int64_t { linear = 0, polynomial = 1, rbf = 2, sigmoid = 3, rbf_minus_one = 4 };

constexpr bool needs_norms(KernelKind kind) { return kind == KernelKind::rbf || kind == KernelKind::rbf_minus_one; }

struct KernelFunction {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1;
  double coef0 = 0;
  int degree = 3;
};

// RBF less its 1: sums of its values keep digits where all of them are close to 1.
constexpr KernelFunction without_one(KernelFunction f) {
  if (f.kind == KernelKind::rbf) f.kind = KernelKind::rbf_minus_one;
  return f;
}

inline constexpr int kMaxDegree = 64;

// The norms are ignored unless the kind needs them.
inline mk_op kernel_map(const mk_tensor& dot, const mk_tensor& norm_x, const mk_tensor& norm_y, const mk_tensor& out,
                        const KernelFunction& f) {
  mk_op op = sdk::make_op(MK_OP_KERNEL_MAP);
  op.n_inputs = needs_norms(f.kind) ? 3 : 1;
  op.n_outputs = 1;
  op.inputs[0] = dot;
  if (needs_norms(f.kind)) {
    op.inputs[1] = norm_x;
    op.inputs[2] = norm_y;
  }
  op.outputs[0] = out;
  op.integers[0] = static_cast<int64_t>(f.kind);
  op.reals[0] = f.gamma;
  op.reals[1] = f.coef0;
  op.reals[2] = f.degree;
  return op;
}

inline void check_kernel_map(const mk_op& op) {
  const mk_tensor& dot = op.inputs[0];
  sdk::check_view("kernel_map", "dot", dot, MK_F32);
  sdk::check_view("kernel_map", "out", op.outputs[0], MK_F32);
  sdk::check_shape("kernel_map", "out", op.outputs[0], dot.rows, dot.columns);
  if (op.integers[0] < 0 || op.integers[0] > static_cast<int64_t>(KernelKind::rbf_minus_one))
    throw Error(MK_INVALID_ARGUMENT, "kernel_map: unknown kernel " + std::to_string(op.integers[0]));
  const bool norms = needs_norms(static_cast<KernelKind>(op.integers[0]));
  if (op.n_inputs != (norms ? 3U : 1U)) throw Error(MK_INVALID_ARGUMENT, "kernel_map: wrong number of inputs");
  if (norms) {
    sdk::check_view("kernel_map", "norm_x", op.inputs[1], MK_F32);
    sdk::check_view("kernel_map", "norm_y", op.inputs[2], MK_F32);
    sdk::check_shape("kernel_map", "norm_x", op.inputs[1], 1, dot.rows);
    sdk::check_shape("kernel_map", "norm_y", op.inputs[2], 1, dot.columns);
  }
  if (op.reals[2] < 0 || op.reals[2] > kMaxDegree || op.reals[2] != std::floor(op.reals[2]))
    throw Error(MK_INVALID_ARGUMENT, "kernel_map: degree must be an integer from 0 to 64");
}

// |out - oracle| <= tolerance * scale, where scale is, elementwise,
//   rbf, sigmoid  1 + |gamma| * (norm_x + norm_y + 2|dot|) * |derivative|, so that the argument's own rounding counts
//   rbf_minus_one  as rbf
//   linear        |out|
//   polynomial    (|gamma * dot| + |coef0|)^degree * max(1, degree)
inline double tolerance_kernel_map(const mk_op&) { return 16.0 * 0x1p-24; }

inline sdk::Cost cost_kernel_map(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {20 * e, 8 * e};
}

}  // namespace mokume::ops
