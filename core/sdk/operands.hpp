// Checks operands against their buffers. core/device does so once for every op of every backend, after ops::check().
// The contents of buffers (indices, labels) remain unchecked: the header of each op specifies their effect.
#pragma once

#include <string>

#include "sdk/ops.hpp"

namespace mokume::ops {

inline bool same_view(const mk_tensor& a, const mk_tensor& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.rows == b.rows && a.columns == b.columns &&
         (a.rows <= 1 || a.row_stride == b.row_stride);
}

// Compares whole ranges, unless both views have one stride, as column blocks of a matrix do; then the answer is exact.
inline bool overlap(const mk_tensor& a, const mk_tensor& b) {
  if (a.buffer != b.buffer || sdk::empty(a) || sdk::empty(b)) return false;
  if (sdk::extent(a) <= b.offset || sdk::extent(b) <= a.offset) return false;
  const int64_t stride = a.row_stride;
  if (a.rows <= 1 || b.rows <= 1 || stride != b.row_stride) return true;
  const int64_t apart = ((b.offset - a.offset) % stride + stride) % stride;
  return apart < a.columns || stride - apart < b.columns;
}

[[noreturn]] inline void refuse_operand(const mk_op& op, const char* role, uint32_t i, const std::string& why) {
  throw Error(MK_INVALID_ARGUMENT, std::string(rule(op.code).name) + ": " + role + " " + std::to_string(i) + " " + why);
}

// Throws Error(MK_INVALID_ARGUMENT) if an operand has no buffer or exceeds it, or if an output overlaps another
// operand, except in place. bytes_of(mk_buffer*) returns the size of a buffer of this device, and throws for any other.
template <class BytesOf>
void check_operands(const mk_op& op, const BytesOf& bytes_of) {
  const auto check_bounds = [&](const mk_tensor& t, const char* role, uint32_t i) {
    if (sdk::empty(t)) return;
    if (t.buffer == nullptr) refuse_operand(op, role, i, "has no buffer");
    const auto end = static_cast<uint64_t>(sdk::extent(t)) * sdk::kElementBytes;
    if (const uint64_t bytes = bytes_of(t.buffer); end > bytes)
      refuse_operand(
          op, role, i,
          "of " + sdk::shape(t) + " ends at byte " + std::to_string(end) + " of a buffer of " + std::to_string(bytes));
  };
  for (uint32_t i = 0; i < op.n_inputs; ++i) check_bounds(op.inputs[i], "input", i);
  for (uint32_t o = 0; o < op.n_outputs; ++o) {
    check_bounds(op.outputs[o], "output", o);
    for (uint32_t i = 0; i < op.n_inputs; ++i) {
      if (!overlap(op.inputs[i], op.outputs[o])) continue;
      const bool in_place =
          i == 0 && rule(op.code).in_place == static_cast<int32_t>(o) && same_view(op.inputs[i], op.outputs[o]);
      if (!in_place) refuse_operand(op, "output", o, "overlaps input " + std::to_string(i));
    }
    for (uint32_t other = 0; other < o; ++other)
      if (overlap(op.outputs[o], op.outputs[other]))
        refuse_operand(op, "output", o, "overlaps output " + std::to_string(other));
  }
}

}  // namespace mokume::ops
