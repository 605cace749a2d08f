#include "train/gradient_norm.hpp"

#include "sdk/ops/fill.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/row_norm2.hpp"

namespace mokume::cnn {

GradientNorm::GradientNorm(const sdk::Device& device, const Segments& layout, StackMemory& memory) {
  for (size_t s = 0; s < layout.learned(); ++s) parts_ += (layout.size(s) + kPart - 1) / kPart;
  memory_ = memory.take(2 * parts_ + 1);
  device.submit(ops::fill(memory_.vector(parts_, parts_), 1.0F));
}

mk_tensor GradientNorm::measure(const ParameterVector& gradients,
                                const std::function<void(const mk_op&)>& submit) const {
  int64_t part = 0;
  for (size_t s = 0; s < gradients.layout().learned(); ++s) {
    const int64_t size = gradients.layout().size(s), whole = size / kPart, rest = size % kPart;
    const mk_tensor all = gradients.run(s, 0, size);
    if (whole > 0)
      submit(ops::row_norm2(sdk::matrix(all.buffer, whole, kPart, 0, all.offset), memory_.vector(whole, part)));
    part += whole;
    if (rest > 0) submit(ops::row_norm2(gradients.run(s, whole * kPart, rest), memory_.vector(1, part++)));
  }
  const mk_tensor norm2 = memory_.matrix(1, 1, 2 * parts_);
  submit(ops::gemm(memory_.vector(parts_), false, memory_.vector(parts_, parts_), true, norm2));
  return norm2;
}

}  // namespace mokume::cnn
