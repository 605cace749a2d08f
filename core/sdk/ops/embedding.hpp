// embedding: out[r][c * S + s] = table[c * V + x[r][c]][s] (f32). Column c of x has a table of its own with V = T / C
// vectors of S numbers.
//
//   inputs   x: M x C, codes from 0 to V - 1, table: T x S, where C divides T   outputs  out: M x (C * S)
//
// An x that is no whole number from 0 to V - 1 makes its S numbers of out NaN.
//
// embedding_grad: dtable[c * V + v][s] = sum of grad[r][c * S + s] over the rows r with x[r][c] = v, in their order.
//
//   inputs   x: M x C, grad: M x (C * S)   outputs  dtable: T x S, where C divides T
//
// An x that is no whole number from 0 to V - 1 adds to no sum.
//
// Outputs must not overlap inputs. x has at least one column, and V is at most 2^24, so that floats hold all codes.
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op embedding(const mk_tensor& x, const mk_tensor& table, const mk_tensor& out) {
  return sdk::make_op(MK_OP_EMBEDDING, {x, table}, {out});
}

inline mk_op embedding_grad(const mk_tensor& x, const mk_tensor& grad, const mk_tensor& dtable) {
  return sdk::make_op(MK_OP_EMBEDDING_GRAD, {x, grad}, {dtable});
}

inline void check_embedding_shapes(const char* op, const mk_tensor& x, const char* table_name, const mk_tensor& table,
                                   const char* vectors_name, const mk_tensor& vectors) {
  sdk::check_view(op, "x", x, MK_F32);
  sdk::check_view(op, table_name, table, MK_F32);
  if (x.columns < 1 || table.rows % x.columns != 0)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": the " + std::to_string(x.columns) +
                                         " columns of x do not divide the " + std::to_string(table.rows) + " rows of " +
                                         table_name);
  if (table.rows / x.columns > int64_t{1} << 24)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": a column has more than 2^24 codes");
  if (table.columns > INT64_MAX / x.columns)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": " + table_name + " has too many columns");
  sdk::check_operand(op, vectors_name, vectors, x.rows, x.columns * table.columns);
}

inline void check_embedding(const mk_op& op) {
  check_embedding_shapes("embedding", op.inputs[0], "table", op.inputs[1], "out", op.outputs[0]);
}

inline void check_embedding_grad(const mk_op& op) {
  check_embedding_shapes("embedding_grad", op.inputs[0], "dtable", op.outputs[0], "grad", op.inputs[1]);
}

inline double tolerance_embedding(const mk_op&) { return 0.0; }

// The tolerance is relative to the sum of |grad|. A sum of M terms has the error of gemm.hpp.
inline double tolerance_embedding_grad(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(op.inputs[0].rows)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_embedding(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {0, 8 * e};
}

// Each row of the table looks at all codes of its column.
inline sdk::Cost cost_embedding_grad(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {e * static_cast<double>(op.inputs[0].rows), 8 * e};
}

}  // namespace mokume::ops
