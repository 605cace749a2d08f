#include "conv/phases.hpp"

#include <numeric>

#include "conv/turn.embed.hpp"
#include "conv/turn_args.h"

namespace mokume::opencl {

Phase::Phase(int64_t index, int64_t side, int64_t kernel, int64_t stride, int64_t dilation_of_window, int64_t padding)
    : first(index),
      count(first < side ? (side - first - 1) / stride + 1 : 0),
      first_tap(0),
      tap_step(stride / std::gcd(stride, dilation_of_window)),
      taps(0),
      dilation(dilation_of_window / std::gcd(stride, dilation_of_window)),
      pad(0) {
  const auto distance = [&] { return first + padding - first_tap * dilation_of_window; };
  while (first_tap < tap_step && distance() % stride != 0) ++first_tap;
  if (first_tap == tap_step || first_tap >= kernel) return;
  taps = (kernel - first_tap - 1) / tap_step + 1;
  pad = (taps - 1) * dilation - distance() / stride;
}

Phases::Phases(const ops::Window& w) {
  for (int64_t i = 0; i < w.stride_h; ++i)
    for (int64_t j = 0; j < w.stride_w; ++j) {
      const Phase rows(i, w.height, w.kernel_h, w.stride_h, w.dilation_h, w.pad_h),
          columns(j, w.width, w.kernel_w, w.stride_w, w.dilation_w, w.pad_w);
      if (rows.count == 0 || columns.count == 0) continue;
      if (rows.taps == 0 || columns.taps == 0) {
        whole = false;
        continue;
      }
      padded = padded && rows.pad >= 0 && columns.pad >= 0;
      all.emplace_back(rows, columns);
    }
}

ops::Window window_of(const ConvProblem& p, const Phase& rows, const Phase& columns) {
  ops::Window w;
  w.height = p.window.out_height();
  w.width = p.window.out_width();
  w.channels = p.out_channels;
  w.groups = p.window.groups;
  w.kernel_h = rows.taps;
  w.kernel_w = columns.taps;
  w.dilation_h = rows.dilation;
  w.dilation_w = columns.dilation;
  w.pad_h = rows.pad;
  w.pad_w = columns.pad;
  w.more_h = rows.count - 1 + w.extent_h() - w.height - 2 * w.pad_h;
  w.more_w = columns.count - 1 + w.extent_w() - w.width - 2 * w.pad_w;
  return w;
}

void turn_weights(Launcher& launcher, const ConvProblem& p, const Phases& phases, cl_mem to) {
  const ops::Window& w = p.window;
  int64_t offset = 0;
  for (const auto& [rows, columns] : phases.all) {
    launcher.run(launcher.device().kernel({"turn", kConvTurn, ""}, "turn_weights"), {{rows.taps * columns.taps, 1, 1}},
                 TurnWeightsArgs{.weight = view(p.weight),
                                 .turned_offset = offset,
                                 .kernel_w = narrow(w.kernel_w),
                                 .channels = narrow(w.group_channels()),
                                 .out_channels = narrow(p.out_channels / w.groups),
                                 .step_h = narrow(rows.tap_step),
                                 .step_w = narrow(columns.tap_step),
                                 .first_h = narrow(rows.first_tap),
                                 .first_w = narrow(columns.first_tap),
                                 .taps_h = narrow(rows.taps),
                                 .taps_w = narrow(columns.taps),
                                 .groups = narrow(w.groups)},
                 {memory(p.weight), to});
    offset += rows.taps * columns.taps * w.group_channels() * p.out_channels;
  }
}

}  // namespace mokume::opencl
