#include "conv/lines.hpp"

#include <algorithm>

#include "conv/lines.embed.hpp"
#include "conv/lines_args.h"

namespace mokume::opencl {
namespace {

constexpr int64_t kWindows = 12;  // of a register tile, which extends past the end of a row

const LibraryKernel& lines_kernel(mk_device& device, int64_t channels, const char* name) {
  return device.kernel(for_width(device, "lines", kConvLines, filters_width(device, channels)), name);
}

bool uses_lines(const mk_device& device, const ConvProblem& p) {
  return uses_vectors(device) && device.choices.conv == "winograd" && p.plain();
}

// `from` convolved with weights that have a row for each element of the patch.
void convolve(Launcher& launcher, const mk_tensor& from, const ops::Window& w, cl_mem weight, const View& weights,
              const mk_tensor& bias, bool relu, const mk_tensor& to) {
  mk_device& device = launcher.device();
  const int64_t out_channels = to.columns / w.out_pixels(), line = (w.width + 2 * w.pad_w) * w.channels;
  const int64_t rows = rows_of_band(w);
  const int64_t per_image = divide_up(w.out_height(), rows), bands = from.rows * per_image;
  const int64_t each = divide_up(bands, std::min(bands, 8 * device.cores)), items = divide_up(bands, each);
  const int64_t scratch_each =
      round_up(((rows - 1) * w.stride_h + w.kernel_h) * line + kWindows * w.stride_w * w.channels, 16);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, items * scratch_each);
  const bool biased = bias.buffer != nullptr;
  launcher.run(lines_kernel(device, out_channels, "conv2d_lines"), {{items, 1, 1}},
               LinesArgs{.images = view(from),
                         .weight = weights,
                         .out = view(to),
                         .bias_offset = biased ? bias.offset : 0,
                         .bands = bands,
                         .bands_each = each,
                         .scratch_each = scratch_each,
                         .sides = sides_of(w, out_channels),
                         .rows_each = narrow(rows),
                         .bands_per_image = narrow(per_image),
                         .biased = biased ? 1 : 0,
                         .relu = relu ? 1 : 0},
               {memory(from), weight, biased ? memory(bias) : weight, memory(to), scratch});
}

}  // namespace

int64_t rows_of_band(const ops::Window& w) {
  constexpr int64_t kFloats = 12288;
  const int64_t line = (w.width + 2 * w.pad_w) * w.channels;
  return std::clamp<int64_t>((kFloats / line - w.kernel_h) / w.stride_h + 1, 1, w.out_height());
}

bool suits_lines(const mk_device& device, const ConvProblem& p) { return uses_lines(device, p) && p.out_channels >= 4; }

void lines_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  convolve(launcher, p.images, p.window, memory(p.weight), view(p.weight), bias, relu, p.windows);
}

// With stride 1, the gradient is the convolution of dy with the window turned by 180 degrees.
bool suits_lines_grad_input(const mk_device& device, const ConvProblem& p) {
  const ops::Window& w = p.window;
  return uses_lines(device, p) && w.channels >= 4 && w.stride_h == 1 && w.stride_w == 1;
}

void lines_grad_input(Launcher& launcher, const ConvProblem& p) {
  const ops::Window& w = p.window;
  ops::Window back = w;
  back.height = w.out_height();
  back.width = w.out_width();
  back.channels = p.out_channels;
  back.pad_h = w.kernel_h - 1 - w.pad_h;
  back.pad_w = w.kernel_w - 1 - w.pad_w;
  const cl_mem turned = launcher.queue().kept(p.weight, "turned", w.patch() * p.out_channels, [&](cl_mem to) {
    launcher.run(lines_kernel(launcher.device(), w.channels, "turn_weights"), {{w.kernel_h * w.kernel_w, 1, 1}},
                 TurnWeightsArgs{.weight = view(p.weight),
                                 .kernel_h = narrow(w.kernel_h),
                                 .kernel_w = narrow(w.kernel_w),
                                 .channels = narrow(w.channels),
                                 .out_channels = narrow(p.out_channels)},
                 {memory(p.weight), to});
  });
  convolve(launcher, p.windows, back, turned, {0, w.channels}, {}, false, p.images);
}

}  // namespace mokume::opencl
