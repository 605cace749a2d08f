// The square window that convolutions and pools slide over images.
#pragma once

#include "layers/layer.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::cnn {

inline ops::Window sliding_window(const Plan& plan, int64_t kernel, int64_t stride, int64_t padding) {
  plan.need_images();
  const Shape& in = plan.in;
  if (padding >= kernel)
    plan.refuse("padding " + std::to_string(padding) + " must be smaller than the kernel", "lower it");
  if (kernel > in.height + 2 * padding || kernel > in.width + 2 * padding)
    plan.refuse("a kernel of " + std::to_string(kernel) + " x " + std::to_string(kernel) +
                    " does not fit its input of " + text(in),
                "lower kernel_size or add padding");
  return {in.height, in.width, in.channels, kernel, kernel, stride, stride, padding, padding};
}

}  // namespace mokume::cnn
