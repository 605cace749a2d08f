// Builds and checks tensors for all ops.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "abi/op.h"
#include "sdk/attributes.hpp"
#include "sdk/error.hpp"

namespace mokume::sdk {

inline constexpr int64_t kElementBytes = 4;  // size of all current dtypes: f32 and i32

// Returns a row-major matrix view of rows x columns. If row_stride is 0, rows are adjacent.
inline mk_tensor matrix(mk_buffer* buffer, int64_t rows, int64_t columns, int64_t row_stride = 0, int64_t offset = 0,
                        mk_dtype dtype = MK_F32) {
  return {buffer, offset, rows, columns, row_stride == 0 ? columns : row_stride, dtype, 0};
}

inline mk_tensor vector(mk_buffer* buffer, int64_t size, int64_t offset = 0, mk_dtype dtype = MK_F32) {
  return {buffer, offset, 1, size, size, dtype, 0};
}

inline std::string shape(const mk_tensor& t) { return std::to_string(t.rows) + "x" + std::to_string(t.columns); }

inline bool empty(const mk_tensor& t) { return t.rows == 0 || t.columns == 0; }

// Returns the position after the last element of the view.
inline int64_t extent(const mk_tensor& t) {
  return empty(t) ? t.offset : t.offset + (t.rows - 1) * t.row_stride + t.columns;
}

// Throws Error(MK_INVALID_ARGUMENT) unless dtype, signs and stride are valid and the extent cannot overflow.
inline void check_view(const char* op, const char* operand, const mk_tensor& t, mk_dtype dtype) {
  const auto refuse = [&](const std::string& why) {
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": " + operand + " " + why);
  };
  constexpr int64_t kLimit = int64_t{1} << 48;  // far above the memory of any device, and far below overflow
  if (t.dtype != dtype) refuse("has the wrong element type");
  if (t.rows < 0 || t.columns < 0 || t.offset < 0) refuse("has a negative size or offset");
  if (t.rows > kLimit || t.columns > kLimit || t.row_stride > kLimit || t.offset > kLimit) refuse("is too large");
  if (t.rows > 1 && t.row_stride < t.columns) refuse("has overlapping rows");
  if (t.rows > 1 && t.row_stride > kLimit / t.rows) refuse("is too large");
}

inline void check_shape(const char* op, const char* operand, const mk_tensor& t, int64_t rows, int64_t columns) {
  if (t.rows != rows || t.columns != columns)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": " + operand + " is " + shape(t) + ", expected " +
                                         std::to_string(rows) + "x" + std::to_string(columns));
}

inline void check_operand(const char* op, const char* operand, const mk_tensor& t, int64_t rows, int64_t columns,
                          mk_dtype dtype = MK_F32) {
  check_view(op, operand, t, dtype);
  check_shape(op, operand, t, rows, columns);
}

// Returns an op whose attributes are 0. Callers append operands that may be missing.
inline mk_op make_op(mk_op_code code, std::initializer_list<mk_tensor> inputs,
                     std::initializer_list<mk_tensor> outputs) {
  mk_op op{};
  op.struct_size = sizeof(mk_op);
  op.code = code;
  for (const mk_tensor& t : inputs) op.inputs[op.n_inputs++] = t;
  for (const mk_tensor& t : outputs) op.outputs[op.n_outputs++] = t;
  return op;
}

struct Cost {
  double flops = 0;
  double bytes = 0;  // minimum, if everything is read and written once
};

}  // namespace mokume::sdk
