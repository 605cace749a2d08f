// Defines the windows that convolutions and pools slide over images, and the keys that describe windows.
#pragma once

#include <algorithm>

#include "layers/layer.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::cnn {

// Layers whose windows may differ in height and width have these keys in addition to kernel_size, stride and padding.
constexpr mk_param kKernelWidth =
    younger(integer("kernel_width", 0, 1024, "0", "width of the window; 0: the same as kernel_size"));
constexpr mk_param kStrideWidth =
    younger(integer("stride_width", 0, 1024, "0", "step of the window to the right; 0: as stride"));
constexpr mk_param kPaddingWidth =
    younger(integer("padding_width", -1, 1023, "-1", "padding on the left and on the right; -1: as padding"));
constexpr mk_param kCeilMode =
    younger(flag("ceil_mode", "false", "also windows that begin in the image and end beyond its padding"));

// Refuses a window that does not fit the input.
inline void check_fit(const LayerPlan& plan, const ops::Window& w) {
  const Shape& in = plan.in;
  const std::string dilation = w.dilated() ? " with dilation " + std::to_string(w.dilation_h) : "";
  for (const auto& [padding, extent] : {std::pair{w.pad_h, w.extent_h()}, std::pair{w.pad_w, w.extent_w()}})
    if (padding >= extent)
      plan.refuse("padding " + std::to_string(padding) + " must be smaller than the kernel", "lower it");
  if (w.extent_h() > in.height + 2 * w.pad_h + w.more_h || w.extent_w() > in.width + 2 * w.pad_w + w.more_w)
    plan.refuse("a kernel of " + std::to_string(w.kernel_h) + " x " + std::to_string(w.kernel_w) + dilation +
                    " does not fit its input of " + text(in),
                "lower kernel_size or add padding");
}

// Returns the window of the six keys for size, stride and padding, unchecked. Stride 0 means the size of the window.
inline ops::Window window_of_keys(const LayerPlan& plan, const Values& v) {
  plan.need_images();
  ops::Window w{plan.in.height, plan.in.width, plan.in.channels};
  const int64_t kernel_width = v.integer("kernel_width"), stride = v.integer("stride"),
                stride_width = v.integer("stride_width"), padding_width = v.integer("padding_width");
  w.kernel_h = v.integer("kernel_size");
  w.kernel_w = kernel_width == 0 ? w.kernel_h : kernel_width;
  w.stride_h = stride == 0 ? w.kernel_h : stride;
  w.stride_w = stride_width != 0 ? stride_width : stride == 0 ? w.kernel_w : stride;
  w.pad_h = v.integer("padding");
  w.pad_w = padding_width < 0 ? w.pad_h : padding_width;
  return w;
}

// Returns the window of a pool. With ceil_mode, the padding after the image extends to the end of the last window,
// which begins before that padding, as in PyTorch.
inline ops::Window pool_window(const LayerPlan& plan, const Values& v) {
  ops::Window w = window_of_keys(plan, v);
  check_fit(plan, w);
  if (!v.flag("ceil_mode")) return w;
  const auto more = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    int64_t last = (size + 2 * pad - kernel + stride - 1) / stride * stride - pad;  // start of the last window
    if (last >= size) last -= stride;
    return std::max<int64_t>(last + kernel - size - pad, 0);
  };
  w.more_h = more(w.height, w.kernel_h, w.stride_h, w.pad_h);
  w.more_w = more(w.width, w.kernel_w, w.stride_w, w.pad_w);
  return w;
}

// Returns the values, apart from shapes, that affect an op.
inline std::vector<int64_t> variant_of(const ops::Window& w) {
  return {w.kernel_h, w.kernel_w, w.stride_h,   w.stride_w,   w.pad_h, w.pad_w,
          w.more_h,   w.more_w,   w.dilation_h, w.dilation_w, w.groups};
}

}  // namespace mokume::cnn
