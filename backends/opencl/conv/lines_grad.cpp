#include <algorithm>

#include "conv/lines.hpp"
#include "conv/lines_grad.embed.hpp"
#include "conv/lines_grad_args.h"

namespace mokume::opencl {
namespace {

// All these constants determine the order of sums, so they are the same on every device.
constexpr int64_t kPixelsEach = 1024;               // windows per part; smaller parts are not worth their sums
constexpr int64_t kPartsFloats = int64_t{4} << 20;  // limit for all parts together
constexpr int64_t kFewestParts = 8;                 // least number of parts, for the cores, even if the sums are large
constexpr int64_t kMostFloats = int64_t{1} << 20;   // limit for one part
constexpr int64_t kWidest = 16;                     // largest number of lanes of a vector
constexpr int64_t kSlack = 12;                      // room for the registers of a tile, which extend past the last line

int64_t part_floats(const ConvProblem& p) {
  return p.window.patch() * p.window.groups * round_up(p.out_channels / p.window.groups, kWidest);
}

// A band is worth the addition of its sums to the part if it has kEnough windows. It prefers to stay in the first-level
// cache, with kFew floats, but may have kMost.
struct GradBands {
  int64_t rows, images, per_image, all, each, parts;

  explicit GradBands(const ConvProblem& p) {
    constexpr int64_t kEnough = 192, kFew = 12288, kMost = 32768;
    const ops::Window& w = p.window;
    const int64_t line = p.line() * w.group_channels(), out_h = w.out_height(), out_w = w.out_width();
    const auto fit = [&](int64_t floats) { return (floats / line - w.kernel_h) / w.stride_h + 1; };
    rows = std::clamp<int64_t>(std::max(fit(kFew), std::min(fit(kMost), divide_up(kEnough, out_w))), 1, out_h);
    const int64_t together = std::min(kEnough / (out_h * out_w), kMost / (p.lines() * line));
    images = rows < out_h ? 1 : std::clamp<int64_t>(together, 1, p.images.rows);
    per_image = divide_up(out_h, rows);
    all = divide_up(p.images.rows, images) * per_image;
    const int64_t most = std::max(kFewestParts, kPartsFloats / part_floats(p));
    each = std::max(divide_up(kPixelsEach, rows * out_w * images), divide_up(all, most));
    parts = divide_up(all, each);
  }
};

const LibraryKernel& grad_kernel(mk_device& device, const ConvProblem& p, const char* name) {
  return device.kernel(with_tiles(device, "lines_grad", kConvLinesGrad, p.out_channels / p.window.groups), name);
}

}  // namespace

bool suits_lines_grad(const mk_device& device, const ConvProblem& p) {
  return uses_lines(device, p.window, p.out_channels) && part_floats(p) <= kMostFloats;
}

void lines_grad_weight(Launcher& launcher, const ConvProblem& p) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const GradBands bands(p);
  const int64_t filters = p.out_channels / w.groups, vectors = divide_up(filters, filters_width(device, filters));
  const int64_t units = w.groups * divide_up(vectors, 2) * w.kernel_h;
  const int64_t units_each = divide_up(units, std::clamp<int64_t>(4 * device.cores / bands.parts, 1, units));
  const int64_t splits = divide_up(units, units_each);
  const int64_t image_floats = ((bands.rows - 1) * w.stride_h + w.kernel_h) * p.line() * w.group_channels();
  const int64_t scratch_each = round_up(bands.images * image_floats + kSlack, 16);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, bands.parts * splits * scratch_each);
  const cl_mem parts = launcher.queue().workspace(kSumsSlot, bands.parts * part_floats(p));
  launcher.run(grad_kernel(device, p, "conv2d_lines_grad"), {{bands.parts, splits, 1}},
               LinesGradArgs{.images = view(p.images),
                             .dy = view(p.windows),
                             .image_count = p.images.rows,
                             .image_apart = image_floats,
                             .bands = bands.all,
                             .bands_each = bands.each,
                             .part_each = part_floats(p),
                             .scratch_each = scratch_each,
                             .sides = group_sides(w, p.out_channels),
                             .rows_each = narrow(bands.rows),
                             .bands_per_image = narrow(bands.per_image),
                             .images_each = narrow(bands.images),
                             .groups = narrow(w.groups),
                             .units_each = narrow(units_each),
                             .reserved = 0},
               {memory(p.images), memory(p.windows), parts, scratch});
  launcher.run(grad_kernel(device, p, "lines_sum"), {{w.patch(), 1, 1}},
               LinesSumArgs{.dweight = view(p.weight),
                            .parts = bands.parts,
                            .part_each = part_floats(p),
                            .groups = narrow(w.groups),
                            .columns = narrow(filters)},
               {parts, memory(p.weight)});
}

}  // namespace mokume::opencl
