#include <algorithm>

#include "conv/lines.hpp"
#include "conv/lines_grad.embed.hpp"
#include "conv/lines_grad_args.h"

namespace mokume::opencl {
namespace {

constexpr int64_t kMostFloats = int64_t{1} << 20;  // limit for a part
constexpr int64_t kWidest = 16;                    // largest number of lanes of a vector
constexpr int64_t kSlack = 12;                     // room for the registers of a tile, which extend past the last line

int64_t part_floats(const ConvProblem& p) {
  return p.window.patch() * p.window.groups * round_up(p.out_channels / p.window.groups, kWidest);
}

// A band is worth loading and storing its sums if it has kEnough windows. It prefers to stay in the first-level cache,
// with kFew floats, but may have kMost.
struct GradBands {
  int64_t rows, images;

  explicit GradBands(const ConvProblem& p) {
    constexpr int64_t kEnough = 192, kFew = 12288, kMost = 32768;
    const ops::Window& w = p.window;
    const int64_t line = p.line() * w.group_channels(), out_h = w.out_height(), out_w = w.out_width();
    const auto fit = [&](int64_t floats) { return (floats / line - w.kernel_h) / w.stride_h + 1; };
    rows = std::clamp<int64_t>(std::max(fit(kFew), std::min(fit(kMost), divide_up(kEnough, out_w))), 1, out_h);
    const int64_t together = std::min(kEnough / (out_h * out_w), kMost / (p.lines() * line));
    images = rows < out_h ? 1 : std::clamp<int64_t>(together, 1, p.images.rows);
  }
};

const LibraryKernel& grad_kernel(mk_device& device, const ConvProblem& p, const char* name) {
  return device.kernel(with_tiles(device, "lines_grad", kConvLinesGrad, p.out_channels / p.window.groups), name);
}

}  // namespace

bool suits_lines_grad(const mk_device& device, const ConvProblem& p) {
  return uses_lines(device, p.window, p.out_channels) && !p.window.lopsided() && part_floats(p) <= kMostFloats;
}

void lines_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const GradBands bands(p);
  const int64_t filters = p.out_channels / w.groups, vectors = divide_up(filters, filters_width(device, filters));
  const int64_t units = w.groups * divide_up(vectors, 2) * w.kernel_h;
  const int64_t units_each = divide_up(units, std::clamp<int64_t>(4 * device.cores / pieces.count, 1, units));
  const int64_t splits = divide_up(units, units_each);
  const int64_t image_floats = ((bands.rows - 1) * w.stride_h + w.kernel_h) * p.line() * w.group_channels();
  const int64_t scratch_each = round_up(bands.images * image_floats + kSlack, 16);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, pieces.count * splits * scratch_each);
  const cl_mem parts = launcher.queue().workspace(kSumsSlot, pieces.count * part_floats(p));
  launcher.run(grad_kernel(device, p, "conv2d_lines_grad"), {{pieces.count, splits, 1}},
               LinesGradArgs{.images = view(p.images),
                             .dy = view(p.windows),
                             .rows = p.rows(),
                             .rows_each = pieces.rows_each,
                             .image_apart = image_floats,
                             .part_each = part_floats(p),
                             .scratch_each = scratch_each,
                             .sides = group_sides(w, p.out_channels),
                             .band_rows = narrow(bands.rows),
                             .images_each = narrow(bands.images),
                             .groups = narrow(w.groups),
                             .units_each = narrow(units_each)},
               {memory(p.images), memory(p.windows), parts, scratch});
  launcher.run(grad_kernel(device, p, "lines_sum"), {{w.patch(), 1, 1}},
               LinesSumArgs{.dweight = view(p.weight),
                            .parts = pieces.count,
                            .part_each = part_floats(p),
                            .groups = narrow(w.groups),
                            .columns = narrow(filters),
                            .fresh = pieces.fresh ? 1 : 0,
                            .reserved = 0},
               {parts, memory(p.weight)});
}

}  // namespace mokume::opencl
