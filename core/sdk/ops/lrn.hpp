// lrn, local response normalisation: out[r][c] = x[r][c] * n[r][c] ^ -beta (f32), where n[r][c] = bias + alpha / size *
// sum of x[r][k]^2 over the neighbours k of c: from c - (size - 1) / 2 to c + size / 2, as far as they are in the row.
//
//   inputs   x: M x K   outputs  out: M x K; must not overlap
//   attributes  size, from 1 to 2^20; alpha, from 0 to 1e30; beta, from 1e-30 to 100; bias, from 1e-30 to 1e30
//
// lrn_grad: dx[r][c] = grad[r][c] * n[r][c] ^ -beta
//                      - 2 alpha beta / size * x[r][c] * sum of grad[r][k] * x[r][k] * n[r][k] ^ (-beta - 1),
// where the sum is over all k that have c as a neighbour.
//
//   inputs   grad: M x K, x: M x K   outputs  dx: M x K; must not overlap
#pragma once

#include <cmath>

#include "sdk/attributes.hpp"
#include "sdk/tensor.hpp"

namespace mokume::ops {

using Lrn = mk_lrn;

inline mk_op lrn(const mk_tensor& x, const Lrn& lrn, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_LRN, {x}, {out});
  op.lrn = lrn;
  return op;
}

inline mk_op lrn_grad(const mk_tensor& grad, const mk_tensor& x, const Lrn& lrn, const mk_tensor& dx) {
  mk_op op = sdk::make_op(MK_OP_LRN_GRAD, {grad, x}, {dx});
  op.lrn = lrn;
  return op;
}

MOKUME_ATTRIBUTES(kLrnAttributes, mk_lrn, MK_LRN(MOKUME_ATTRIBUTE));

// Returns the number of neighbours before and after an element.
inline int64_t lrn_before(const Lrn& lrn) { return (lrn.size - 1) / 2; }
inline int64_t lrn_after(const Lrn& lrn) { return lrn.size / 2; }

inline void check_lrn_form(const char* name, const Lrn& lrn) {
  const auto refuse = [&](const char* what) { throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": " + what); };
  if (lrn.size < 1 || lrn.size > int64_t{1} << 20) refuse("size is not from 1 to 2^20");
  if (!(lrn.alpha >= 0 && lrn.alpha <= 1e30)) refuse("alpha is not from 0 to 1e30");
  if (!(lrn.beta >= 1e-30 && lrn.beta <= 100)) refuse("beta is not from 1e-30 to 100");
  if (!(lrn.bias >= 1e-30 && lrn.bias <= 1e30)) refuse("bias is not from 1e-30 to 1e30");
}

inline void check_lrn(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("lrn", "x", x, MK_F32);
  sdk::check_operand("lrn", "out", op.outputs[0], x.rows, x.columns);
  check_lrn_form("lrn", op.lrn);
}

inline void check_lrn_grad(const mk_op& op) {
  const mk_tensor& grad = op.inputs[0];
  sdk::check_view("lrn_grad", "grad", grad, MK_F32);
  sdk::check_operand("lrn_grad", "x", op.inputs[1], grad.rows, grad.columns);
  sdk::check_operand("lrn_grad", "dx", op.outputs[0], grad.rows, grad.columns);
  check_lrn_form("lrn_grad", op.lrn);
}

// The tolerance is relative to the sum of the absolute values of all terms. n has the error of a sum of `size` terms,
// and a power multiplies it by beta; rounding log n, which is below 2^8, changes n ^ -beta by up to beta * 2^-17.
inline double tolerance_lrn(const mk_op& op) {
  const double neighbours = static_cast<double>(op.lrn.size);
  return (4.0 * (std::sqrt(neighbours) + 4.0) + (op.lrn.beta + 1.0) * (neighbours + 128.0)) * 0x1p-24;
}

inline sdk::Cost cost_lrn(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {(30.0 + 2.0 * static_cast<double>(op.lrn.size)) * e, 8 * e};
}

inline sdk::Cost cost_lrn_grad(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  const double neighbours = static_cast<double>(op.lrn.size);
  return {neighbours * (30.0 + 2.0 * neighbours) * e, 12 * e};
}

}  // namespace mokume::ops
