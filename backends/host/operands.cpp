#include "operands.hpp"

#include <string>

#include "call.hpp"
#include "sdk/ops.hpp"

namespace mokume::host {
namespace {

[[noreturn]] void refuse(const mk_op& op, const std::string& why) {
  throw Error(MK_INVALID_ARGUMENT, std::string(ops::rule(op.code).name) + ": " + why);
}

void check_bounds(const mk_device& device, const mk_op& op, const mk_tensor& t, const char* role, uint32_t i) {
  const auto operand = [&] { return std::string(role) + " " + std::to_string(i); };
  if (t.buffer == nullptr) {
    if (!sdk::empty(t)) refuse(op, operand() + " has no buffer");
    return;
  }
  if (t.buffer->device != &device) refuse(op, operand() + " has a buffer of another device");
  const uint64_t end = static_cast<uint64_t>(sdk::extent(t)) * sdk::kElementBytes;
  if (end > t.buffer->bytes)
    refuse(op,
           operand() + " ends at byte " + std::to_string(end) + " of a buffer of " + std::to_string(t.buffer->bytes));
}

bool same_view(const mk_tensor& a, const mk_tensor& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.rows == b.rows && a.columns == b.columns &&
         (a.rows <= 1 || a.row_stride == b.row_stride);
}

// Exact where both have one stride (column blocks of one matrix are apart); otherwise ranges that meet count.
bool overlap(const mk_tensor& a, const mk_tensor& b) {
  if (a.buffer != b.buffer || sdk::empty(a) || sdk::empty(b)) return false;
  if (sdk::extent(a) <= b.offset || sdk::extent(b) <= a.offset) return false;
  const int64_t stride = a.row_stride;
  if (a.rows <= 1 || b.rows <= 1 || stride != b.row_stride) return true;
  const int64_t apart = ((b.offset - a.offset) % stride + stride) % stride;
  return apart < a.columns || stride - apart < b.columns;
}

void check_overlap(const mk_op& op) {
  for (uint32_t o = 0; o < op.n_outputs; ++o)
    for (uint32_t i = 0; i < op.n_inputs; ++i) {
      const bool in_place =
          i == 0 && ops::rule(op.code).in_place == static_cast<int32_t>(o) && same_view(op.inputs[i], op.outputs[o]);
      if (!in_place && overlap(op.inputs[i], op.outputs[o]))
        refuse(op, "output " + std::to_string(o) + " overlaps input " + std::to_string(i));
    }
  for (uint32_t o = 1; o < op.n_outputs; ++o)
    for (uint32_t other = 0; other < o; ++other)
      if (overlap(op.outputs[o], op.outputs[other]))
        refuse(op, "output " + std::to_string(o) + " overlaps output " + std::to_string(other));
}

void check_indices(const mk_op& op, const View<const int32_t>& index, int64_t rows) {
  for (int64_t i = 0; i < index.columns; ++i)
    if (index.data[i] < 0 || index.data[i] >= rows)
      refuse(op, "index " + std::to_string(i) + " is " + std::to_string(index.data[i]) + ", but there are " +
                     std::to_string(rows) + " rows");
}

void check_labels(const mk_op& op, const Call& call) {
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  for (int64_t r = 0; r < index.columns; ++r) {
    const int32_t k = label.data[index.data[r]];
    if (k < 0 || k >= op.inputs[0].columns)
      refuse(op, "label " + std::to_string(k) + " of row " + std::to_string(r) + " is not one of " +
                     std::to_string(op.inputs[0].columns) + " columns");
  }
}

}  // namespace

void check_operands(const mk_device& device, const mk_op& op) {
  for (uint32_t i = 0; i < op.n_inputs; ++i) check_bounds(device, op, op.inputs[i], "input", i);
  for (uint32_t i = 0; i < op.n_outputs; ++i) check_bounds(device, op, op.outputs[i], "output", i);
  check_overlap(op);
  if (op.code == MK_OP_GATHER_ROWS)
    check_indices(op, Call{op, device.host, *device.loops}.indices(1), op.inputs[0].rows);
  if (op.code == MK_OP_SOFTMAX_LOSS || op.code == MK_OP_SQUARED_LOSS) {
    const Call call{op, device.host, *device.loops};
    const mk_tensor& target = op.inputs[1];
    check_indices(op, call.indices(2), op.code == MK_OP_SOFTMAX_LOSS ? target.columns : target.rows);
    if (op.code == MK_OP_SOFTMAX_LOSS) check_labels(op, call);
  }
}

}  // namespace mokume::host
