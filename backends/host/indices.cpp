#include "indices.hpp"

#include <string>

#include "sdk/ops.hpp"

namespace mokume::host {
namespace {

[[noreturn]] void refuse(const mk_op& op, const std::string& why) {
  throw Error(MK_INVALID_ARGUMENT, std::string(ops::rule(op.code).name) + ": " + why);
}

void check_rows(const mk_op& op, const View<const int32_t>& index, int64_t rows, const char* what = "rows") {
  for (int64_t i = 0; i < index.columns; ++i)
    if (index.data[i] < 0 || index.data[i] >= rows)
      refuse(op, "index " + std::to_string(i) + " is " + std::to_string(index.data[i]) + ", but there are " +
                     std::to_string(rows) + " " + what);
}

void check_labels(const Call& call) {
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  const int64_t classes = call.op.inputs[0].columns;
  for (int64_t r = 0; r < index.columns; ++r) {
    const int32_t k = label.data[index.data[r]];
    if (k < 0 || k >= classes)
      refuse(call.op, "label " + std::to_string(k) + " of row " + std::to_string(r) + " is not one of " +
                          std::to_string(classes) + " columns");
  }
}

}  // namespace

void check_indices(const Call& call) {
  const mk_op& op = call.op;
  switch (op.code) {
    case MK_OP_GATHER_ROWS:
    case MK_OP_AUGMENT:
      return check_rows(op, call.indices(1), op.inputs[0].rows);
    case MK_OP_GATHER_PIXELS:
    case MK_OP_GATHER_PIXELS_GRAD:
      check_rows(op, call.indices(1), op.gather_pixels.height);
      return check_rows(op, call.indices(2), op.gather_pixels.width, "columns");
    case MK_OP_SQUARED_LOSS:
      return check_rows(op, call.indices(2), op.inputs[1].rows);
    case MK_OP_SOFTMAX_LOSS:
      check_rows(op, call.indices(2), op.inputs[1].columns);
      return check_labels(call);
    default:
      return;
  }
}

}  // namespace mokume::host
