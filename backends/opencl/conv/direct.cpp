#include "conv/direct.hpp"

#include <algorithm>

#include "conv/direct_args.h"
#include "conv/one_channel.embed.hpp"
#include "gemm/vector.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kLinesAtOnce = 32;  // LINES of direct.cl

}  // namespace

bool suits_direct(const mk_device& device, const ConvProblem& p) {
  const ops::Window& w = p.window;
  return uses_vectors(device) && device.choices.gemm == "vector" && p.plain() && w.channels == 1 && w.stride_h == 1 &&
         w.stride_w == 1 && w.patch() <= 256 && w.width <= 4096 && p.out_channels <= 4096;
}

std::string direct_options(const mk_device& device) {
  return vector_options(device) + " -DLINES=" + std::to_string(kLinesAtOnce);
}

const LibraryKernel& direct_kernel(mk_device& device, const char* name) {
  return device.kernel({"conv_direct/" + std::to_string(device.vector_width), kConvOneChannel, direct_options(device)},
                       name);
}

WindowRows::WindowRows(const mk_device& device, const ConvProblem& p)
    : rows(p.images.rows * p.window.out_height()),
      items(std::min<int64_t>(rows, (p.images.rows > 16 ? 8 : 1) * device.cores)),
      each(divide_up(rows, items)) {}

void direct_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  // Limits the number of windows that flat.cl computes at once, so that their results stay in the core's cache.
  constexpr int64_t kMostWindows = 2048;
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const WindowRows rows(device, p);
  const int64_t line = p.line(), width = device.vector_width;
  const bool flat = p.out_channels <= width;
  const int64_t lines = flat ? std::max(kMostWindows / line, w.kernel_h) : kLinesAtOnce;
  const int64_t at_once = std::min({rows.each, w.out_height(), lines});
  const int64_t most = round_up(at_once * line, (width == 16 ? 4 : 2) * width);  // a multiple of FLAT_VECTORS vectors
  const int64_t weights = flat ? (w.patch() + 1 + most) * round_up(p.out_channels, 4)
                               : (w.patch() + 1) * round_up(p.out_channels, 2 * width);
  const int64_t slack = flat ? width : VectorSizes(width).mr;
  const int64_t scratch_each = round_up(weights + (at_once + w.kernel_h - 1) * line + slack, width);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, rows.items * scratch_each);
  const OptionalView b(bias, p.weight);
  launcher.run(direct_kernel(device, flat ? "conv2d_flat" : "conv2d_direct"), {{divide_up(rows.rows, rows.each), 1, 1}},
               ConvDirectArgs{.images = view(p.images),
                              .weight = view(p.weight),
                              .out = view(p.windows),
                              .bias_offset = b.offset,
                              .scratch_each = scratch_each,
                              .rows = rows.rows,
                              .rows_each = rows.each,
                              .sides = p.sides(),
                              .biased = b.there,
                              .relu = relu ? 1 : 0,
                              .pixel_step = 1,
                              .most_windows = narrow(most),
                              .lines_at_once = narrow(at_once),
                              .reserved = 0},
               {memory(p.images), memory(p.weight), b.memory, memory(p.windows), scratch});
}

}  // namespace mokume::opencl
