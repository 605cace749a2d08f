#include "conv/lines_grad.hpp"

#include <algorithm>

#include "conv/lines.hpp"
#include "conv/lines_grad.embed.hpp"
#include "conv/lines_grad_args.h"

namespace mokume::opencl {
namespace {

// All of these determine the order of sums, so they are the same on every device.
constexpr int64_t kPixelsEach = 1024;               // windows of a part: fewer do not pay for its sums
constexpr int64_t kPartsFloats = int64_t{4} << 20;  // of all parts
constexpr int64_t kFewestParts = 8;                 // work for the cores, even if the sums are large
constexpr int64_t kMostFloats = int64_t{1} << 20;   // of one part
constexpr int64_t kWidest = 16;                     // lanes of a vector
constexpr int64_t kSlack = 12;                      // the registers of a tile extend past the last line

struct Bands {
  int64_t rows, per_image, all, each, parts, part_floats;

  explicit Bands(const ConvProblem& p) {
    const ops::Window& w = p.window;
    rows = rows_of_band(w);
    per_image = divide_up(w.out_height(), rows);
    all = p.images.rows * per_image;
    part_floats = w.patch() * round_up(p.out_channels, kWidest);
    const int64_t most = std::max(kFewestParts, kPartsFloats / part_floats);
    each = std::max(divide_up(kPixelsEach, rows * w.out_width()), divide_up(all, most));
    parts = divide_up(all, each);
  }
};

const LibraryKernel& lines_kernel(mk_device& device, const ConvProblem& p, const char* name) {
  return device.kernel(for_width(device, "lines_grad", kConvLinesGrad, filters_width(device, p.out_channels)), name);
}

}  // namespace

// Few output channels leave most of a vector empty.
bool suits_lines_grad(const mk_device& device, const ConvProblem& p) {
  return uses_vectors(device) && device.choices.conv == "winograd" && p.plain() && p.out_channels >= 4 &&
         p.window.patch() * round_up(p.out_channels, kWidest) <= kMostFloats;
}

void lines_grad_weight(Launcher& launcher, const ConvProblem& p) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const Bands bands(p);
  const int64_t scratch_each =
      round_up(((bands.rows - 1) * w.stride_h + w.kernel_h) * p.line() * w.channels + kSlack, 16);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, bands.parts * scratch_each);
  const cl_mem parts = launcher.queue().workspace(kSumsSlot, bands.parts * bands.part_floats);
  launcher.run(lines_kernel(device, p, "conv2d_lines_grad"), {{bands.parts, 1, 1}},
               LinesGradArgs{.images = view(p.images),
                             .dy = view(p.windows),
                             .bands = bands.all,
                             .bands_each = bands.each,
                             .part_each = bands.part_floats,
                             .scratch_each = scratch_each,
                             .sides = p.sides(),
                             .rows_each = narrow(bands.rows),
                             .bands_per_image = narrow(bands.per_image)},
               {memory(p.images), memory(p.windows), parts, scratch});
  launcher.run(lines_kernel(device, p, "lines_sum"), {{w.patch(), 1, 1}},
               LinesSumArgs{.dweight = view(p.weight),
                            .parts = bands.parts,
                            .part_each = bands.part_floats,
                            .rows = narrow(w.patch()),
                            .columns = narrow(p.out_channels)},
               {parts, memory(p.weight)});
}

}  // namespace mokume::opencl
