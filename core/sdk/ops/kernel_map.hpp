// kernel_map: out = kernel values of dot products (f32), as LIBSVM defines them.
//
//   inputs   dot: M x N, dot[r][c] = <x_r, y_c>;   norm_x: vector of M, norm_y: vector of N (squared norms; only for
//            the RBF kinds, n_inputs is 1 for other kinds)
//   outputs  out: M x N; may be the same view as dot, but must not overlap it otherwise
//   attributes kind, gamma, coef0, degree (from 0 to 64)
//
//   linear      dot
//   polynomial  (gamma * dot + coef0)^degree
//   rbf         exp(-gamma * max(0, norm_x[r] + norm_y[c] - 2 * dot))
//   sigmoid     tanh(gamma * dot + coef0)
//   rbf_minus_one  the float of rbf, minus 1
#pragma once

#include "sdk/tensor.hpp"

namespace mokume::ops {

using KernelKind = mk_kernel_kind;

constexpr bool needs_norms(KernelKind kind) { return kind == KernelKind::rbf || kind == KernelKind::rbf_minus_one; }

struct KernelFunction {
  MK_KERNEL_MAP(MOKUME_FIELD)

  operator mk_kernel_map() const { return std::bit_cast<mk_kernel_map>(*this); }
};

inline KernelFunction kernel_function_of(const mk_op& op) { return std::bit_cast<KernelFunction>(op.kernel_map); }

// Returns RBF minus 1, whose sums keep digits where all values of RBF are close to 1.
constexpr KernelFunction without_one(KernelFunction f) {
  if (f.kind == KernelKind::rbf) f.kind = KernelKind::rbf_minus_one;
  return f;
}

// Compares only the parameters that the kind uses.
constexpr bool same_values(const KernelFunction& a, const KernelFunction& b) {
  const bool gamma = a.kind != KernelKind::linear, degree = a.kind == KernelKind::polynomial;
  const bool coef0 = degree || a.kind == KernelKind::sigmoid;
  return a.kind == b.kind && (!gamma || a.gamma == b.gamma) && (!coef0 || a.coef0 == b.coef0) &&
         (!degree || a.degree == b.degree);
}

inline constexpr int64_t kMaxDegree = 64;

// Ignores the norms unless the kind needs them.
inline mk_op kernel_map(const mk_tensor& dot, const mk_tensor& norm_x, const mk_tensor& norm_y, const mk_tensor& out,
                        const KernelFunction& f) {
  mk_op op = needs_norms(f.kind) ? sdk::make_op(MK_OP_KERNEL_MAP, {dot, norm_x, norm_y}, {out})
                                 : sdk::make_op(MK_OP_KERNEL_MAP, {dot}, {out});
  op.kernel_map = f;
  return op;
}

MOKUME_ATTRIBUTES(kKernelMapAttributes, mk_kernel_map, MK_KERNEL_MAP(MOKUME_ATTRIBUTE));

inline void check_kernel_map(const mk_op& op) {
  const mk_tensor& dot = op.inputs[0];
  sdk::check_view("kernel_map", "dot", dot, MK_F32);
  sdk::check_operand("kernel_map", "out", op.outputs[0], dot.rows, dot.columns);
  const KernelKind kind = op.kernel_map.kind;
  if (kind < KernelKind::linear || kind > KernelKind::rbf_minus_one)
    throw Error(MK_INVALID_ARGUMENT, "kernel_map: unknown kernel " + std::to_string(static_cast<int64_t>(kind)));
  const bool norms = needs_norms(kind);
  if (op.n_inputs != (norms ? 3U : 1U)) throw Error(MK_INVALID_ARGUMENT, "kernel_map: wrong number of inputs");
  if (norms) {
    sdk::check_operand("kernel_map", "norm_x", op.inputs[1], 1, dot.rows);
    sdk::check_operand("kernel_map", "norm_y", op.inputs[2], 1, dot.columns);
  }
  if (op.kernel_map.degree < 0 || op.kernel_map.degree > kMaxDegree)
    throw Error(MK_INVALID_ARGUMENT, "kernel_map: degree must be an integer from 0 to 64");
}

// Requires |out - oracle| <= tolerance * scale, where scale is, elementwise:
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
