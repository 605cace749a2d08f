#include "rounded.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "sdk/ops.hpp"

namespace mokume::host {
namespace {

constexpr std::string_view kNames[] = {"fp32", "tf32", "bf16"};

bool is_depthwise(const mk_window& window) { return window.groups > 1 && window.groups == window.channels; }

// A contiguous copy of a matrix.
class RoundedCopy {
 public:
  RoundedCopy(const Call& call, int input, Precision precision)
      : tensor_(call.op.inputs[input]), buffer_(nullptr, nullptr) {
    const View<const float> from = call.input(input);
    values_.resize(static_cast<size_t>(from.rows * from.columns));
    buffer_.memory = reinterpret_cast<std::byte*>(values_.data());
    if (from.data == nullptr) return;
    call.for_rows(from.rows, from.columns, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < from.columns; ++c)
          values_[static_cast<size_t>(r * from.columns + c)] = rounded(from.row(r)[c], precision);
    });
    tensor_.buffer = &buffer_;
    tensor_.offset = 0;
    tensor_.row_stride = tensor_.columns;
  }
  RoundedCopy(const RoundedCopy&) = delete;
  RoundedCopy& operator=(const RoundedCopy&) = delete;

  const mk_tensor& tensor() const { return tensor_; }

 private:
  mk_tensor tensor_;
  std::vector<float> values_;
  mk_buffer buffer_;
};

}  // namespace

Precision precision_of(std::span<const mk_choice> choices) {
  for (const mk_choice& choice : choices) {
    if (std::string_view(choice.key, strnlen(choice.key, sizeof(choice.key))) != "precision") continue;
    const std::string_view value(choice.value, strnlen(choice.value, sizeof(choice.value)));
    for (size_t i = 0; i < std::size(kNames); ++i)
      if (value == kNames[i]) return static_cast<Precision>(i);
    throw Error(MK_INVALID_ARGUMENT,
                "host: precision = " + std::string(value) + " is unknown; known values are fp32, tf32, bf16");
  }
  return Precision::fp32;
}

std::string_view name_of(Precision precision) { return kNames[static_cast<size_t>(precision)]; }

float rounded(float x, Precision precision) {
  if (precision == Precision::fp32 || std::isnan(x)) return x;
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(precision == Precision::tf32 ? (bits + 0x1000U) & 0xFFFFE000U
                                                           : (bits + 0x7FFFU + (bits >> 16 & 1)) & 0xFFFF0000U);
}

bool multiplies(const mk_op& op) {
  switch (op.code) {
    case MK_OP_GEMM:
      return op.gemm.may_round != 0;
    case MK_OP_CONV2D:
    case MK_OP_CONV2D_GRAD_INPUT:
    case MK_OP_CONV2D_GRAD_WEIGHT:
      return !is_depthwise(op.conv2d.window);
    default:
      return false;
  }
}

void run_rounded(const Call& call, OpFunction function, Precision precision) {
  mk_op op = call.op;
  if (op.code == MK_OP_CONV2D_GRAD_WEIGHT && op.n_outputs > 1) {
    function(call);
    op.n_outputs = 1;
  }
  const RoundedCopy first(call, 0, precision), second(call, 1, precision);
  op.inputs[0] = first.tensor();
  op.inputs[1] = second.tensor();
  function(call.with(op));
}

}  // namespace mokume::host
