#include "conv/flat.hpp"

#include <algorithm>

#include "conv/direct.hpp"
#include "conv/direct_args.h"

namespace mokume::opencl {

void flat_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  constexpr int64_t kMostWindows = 2048;  // at once, so that they stay in a near cache
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const WindowRows rows(device, p);
  const int64_t line = p.line(), width = device.vector_width;
  const int64_t at_once = std::min({rows.each, w.out_height(), std::max(kMostWindows / line, w.kernel_h)});
  const int64_t vectors = (width == 16 ? 4 : 2) * width;  // FLAT_VECTORS vectors
  const int64_t most = round_up(at_once * line, vectors), apart = round_up(p.out_channels, 4);
  const int64_t floats = (w.patch() + 1 + most) * apart + (at_once + w.kernel_h - 1) * line + width;
  const int64_t scratch_each = round_up(floats, width);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, rows.items * scratch_each);
  const OptionalView b(bias, p.weight);
  launcher.run(direct_kernel(device, "conv2d_flat"), {{divide_up(rows.rows, rows.each), 1, 1}},
               ConvFlatArgs{.images = view(p.images),
                            .weight = view(p.weight),
                            .out = view(p.windows),
                            .bias_offset = b.offset,
                            .scratch_each = scratch_each,
                            .rows = rows.rows,
                            .rows_each = rows.each,
                            .sides = p.sides(),
                            .biased = b.there,
                            .relu = relu ? 1 : 0,
                            .most_windows = narrow(most),
                            .lines_at_once = narrow(at_once)},
               {memory(p.images), memory(p.weight), b.memory, memory(p.windows), scratch});
}

}  // namespace mokume::opencl
