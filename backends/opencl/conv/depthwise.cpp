#include "conv/depthwise.hpp"

#include <algorithm>

#include "conv/column_sums.hpp"
#include "conv/depthwise.embed.hpp"
#include "conv/depthwise_args.h"

namespace mokume::opencl {
namespace {

int64_t per_channel(const ConvProblem& p) { return p.out_channels / p.window.channels; }

int width_of(const mk_device& device, const ConvProblem& p) {
  return per_channel(p) == 1 ? channel_width(device, p.out_channels) : 1;
}

const LibraryKernel& kernel_of(mk_device& device, const ConvProblem& p, int64_t bias_offset, int64_t most,
                               const char* name) {
  const std::initializer_list<View> views{view(p.images), view(p.weight), view(p.windows), {bias_offset, 0}};
  return device.kernel(for_views(device, "depthwise", kConvDepthwise, width_of(device, p), views, most), name);
}

DepthwiseArgs args_of(const ImageLaunch& l, const ConvProblem& p, const OptionalView& bias, bool relu) {
  return {.grid = l.grid,
          .images = view(p.images),
          .weight = view(p.weight),
          .windows = view(p.windows),
          .bias_offset = bias.offset,
          .sides = p.sides(),
          .dilation_h = narrow(p.window.dilation_h),
          .dilation_w = narrow(p.window.dilation_w),
          .per_channel = narrow(per_channel(p)),
          .biased = bias.there,
          .relu = relu ? 1 : 0,
          .reserved = 0};
}

}  // namespace

bool suits_depthwise(const ConvProblem& p) {
  return p.window.groups > 1 && p.window.groups == p.window.channels && p.out_channels > 0;
}

void depthwise_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const ImageLaunch l(device, p.images.rows * w.out_height(), w.out_width(), p.out_channels);
  const OptionalView b(bias, p.weight);
  launcher.run(kernel_of(device, p, b.offset, l.grid.rows, "depthwise"), l.range, args_of(l, p, b, relu),
               {memory(p.images), memory(p.weight), b.memory, memory(p.windows)});
}

void depthwise_grad_input(Launcher& launcher, const ConvProblem& p) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const ImageLaunch l(device, p.images.rows * w.height, w.width, w.channels);
  launcher.run(kernel_of(device, p, 0, l.grid.rows, "depthwise_grad_input"), l.range,
               args_of(l, p, {{}, p.weight}, false), {memory(p.windows), memory(p.weight), memory(p.images)});
}

// With fast numerics, GPUs take shorter pieces, which occupy more work-items.
void depthwise_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces) {
  constexpr int64_t kPixelsEach = 512, kMostFloats = int64_t{16} << 20;
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t taps = w.kernel_h * w.kernel_w, sums = taps * p.out_channels;
  const int64_t fast_each =
      std::max(divide_up(kPixelsEach, w.out_width()), divide_up(p.rows(), std::max<int64_t>(kMostFloats / sums, 1)));
  const bool by_pieces = uses_vectors(device) || device.choices.strict();
  const int64_t lines_each = by_pieces ? pieces.rows_each : fast_each;
  const int64_t parts = divide_up(p.rows(), lines_each), local = uses_vectors(device) ? 1 : 64;
  const int width = width_of(device, p);
  const int64_t items = parts * taps * divide_up(p.out_channels, width);
  const cl_mem part = launcher.queue().workspace(kSumsSlot, parts * sums);
  launcher.run(kernel_of(device, p, 0, std::max(items, p.rows()), "depthwise_grad_weight"),
               {{items, 1, 1}, {local, 1, 1}},
               DepthwiseGradArgs{.images = view(p.images),
                                 .windows = view(p.windows),
                                 .lines = p.rows(),
                                 .lines_each = lines_each,
                                 .items = items,
                                 .sides = p.sides(),
                                 .dilation_h = narrow(w.dilation_h),
                                 .dilation_w = narrow(w.dilation_w),
                                 .per_channel = narrow(per_channel(p)),
                                 .reserved = 0},
               {memory(p.images), memory(p.windows), part});
  sum_parts(launcher, part, parts, p.weight, pieces.fresh);
}

}  // namespace mokume::opencl
