#include "conv/lines.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conv/lines.embed.hpp"
#include "conv/lines_args.h"
#include "conv/lines_grad.embed.hpp"
#include "conv/lines_grad_args.h"
#include "elementwise/elementwise.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kWindows = 12;  // number of windows in a register tile, which may extend past the end of a row

// Returns the program with the tiles for the registers of the device.
BuiltIn with_tiles(const mk_device& device, const char* name, const char* source, int64_t channels) {
  BuiltIn program = for_width(name, source, filters_width(device, channels));
  program.options += " -DREGISTERS=" + std::to_string(device.vector_registers);
  return program;
}

const LibraryKernel& lines_kernel(mk_device& device, int64_t channels, const char* name) {
  return device.kernel(with_tiles(device, "lines", kConvLines, channels), name);
}

bool uses_lines(const mk_device& device, const ConvProblem& p) {
  return uses_vectors(device) && device.choices.conv == "winograd" && p.plain();
}

// Locates the outputs of a convolution in the rows of a matrix: neighbouring windows are `step` floats apart, and rows
// of windows are `line` floats apart.
struct Places {
  mk_tensor to;
  int64_t step, line;
};

int64_t line_of(const ops::Window& w) { return (w.width + 2 * w.pad_w + w.more_w) * w.channels; }

// Returns the rows of windows per band, whose lines stay in a core's cache. The number depends on the shape alone.
int64_t rows_of_band(const ops::Window& w) {
  constexpr int64_t kFloats = 12288;
  return std::clamp<int64_t>((kFloats / line_of(w) - w.kernel_h) / w.stride_h + 1, 1, w.out_height());
}

// Holds weights in a matrix with a row for each element of the patch.
struct Weights {
  cl_mem buffer;
  View at;
  int64_t out_channels;
};

// Returns the rows that the tiles of `count` windows compute (see tile_rows() in tiles.cl).
int64_t rows_of_tiles(const mk_device& device, int64_t count) {
  int64_t rows = 0;
  while (rows < count) {
    const int64_t left = count - rows;
    if (device.vector_registers == 16)
      rows += left == 7 || left == 8 || left <= 4 ? 4 : 6;
    else
      rows += left > 8 ? 12 : left > 4 ? 8 : 4;
  }
  return rows;
}

// Returns how many pixels of the windows along one side lie inside the image.
int64_t pixels_inside(int64_t windows, int64_t kernel, int64_t stride, int64_t pad, int64_t side) {
  int64_t pixels = 0;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t first = i * stride - pad;
    pixels += std::max<int64_t>(0, std::min(kernel, side - first) - std::max<int64_t>(0, -first));
  }
  return pixels;
}

// Divides a convolution into bands (see lines_args.h).
struct LineBands {
  int64_t images, rows, line, apart;

  // Tiles of one row of windows read a padded image. Tiles of one window of several images read no padding. The latter
  // are better for short rows, for example with the gradient of a layer that has few windows.
  LineBands(const mk_device& device, int64_t count, const ops::Window& w)
      : images(1), rows(rows_of_band(w)), line(line_of(w)), apart(0) {
    const int64_t groups = divide_up(count, kWindows);
    const int64_t together = std::min(count, round_up(divide_up(count, groups), 4));
    const int64_t row_steps = w.out_height() * w.kernel_h * w.kernel_w * rows_of_tiles(device, w.out_width());
    const int64_t steps = pixels_inside(w.out_height(), w.kernel_h, w.stride_h, w.pad_h, w.height) *
                          pixels_inside(w.out_width(), w.kernel_w, w.stride_w, w.pad_w, w.width);
    if (together == 1 || 20 * steps * rows_of_tiles(device, together) > 19 * row_steps * together) return;
    constexpr int64_t kFloats = 32768;  // for the images of a band
    images = together;
    line = w.width * w.channels;
    const int64_t fit = (kFloats / images / line - w.kernel_h) / w.stride_h + 1;
    rows = std::clamp<int64_t>(std::min(fit, groups * w.out_height() / (4 * device.cores)), 1, w.out_height());
    apart = (divide_up(lines(w) * line, 16) | 1) * 16;  // avoids images that share the sets of a cache
  }

  int64_t lines(const ops::Window& w) const { return (rows - 1) * w.stride_h + w.kernel_h; }
  int64_t floats(const ops::Window& w) const {
    if (images > 1) return round_up(images, kWindows) * apart;
    return round_up(lines(w) * line + kWindows * w.stride_w * w.channels, 16);
  }
};

void convolve(Launcher& launcher, const mk_tensor& from, const ops::Window& w, const Weights& weights,
              const mk_tensor& bias, bool relu, const Places& out) {
  mk_device& device = launcher.device();
  const LineBands b(device, from.rows, w);
  const int64_t per_image = divide_up(w.out_height(), b.rows), bands = divide_up(from.rows, b.images) * per_image;
  const int64_t each = divide_up(bands, std::min(bands, 8 * device.cores)), items = divide_up(bands, each);
  const int64_t scratch_each = b.floats(w);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, items * scratch_each);
  const bool biased = bias.buffer != nullptr;
  launcher.run(lines_kernel(device, weights.out_channels, "conv2d_lines"), {{items, 1, 1}},
               LinesArgs{.images = view(from),
                         .weight = weights.at,
                         .out = view(out.to),
                         .bias_offset = biased ? bias.offset : 0,
                         .image_count = from.rows,
                         .image_apart = b.apart,
                         .bands = bands,
                         .bands_each = each,
                         .scratch_each = scratch_each,
                         .out_step = out.step,
                         .out_line = out.line,
                         .sides = sides_of(w, weights.out_channels),
                         .rows_each = narrow(b.rows),
                         .bands_per_image = narrow(per_image),
                         .images_each = narrow(b.images),
                         .line = narrow(b.line),
                         .biased = biased ? 1 : 0,
                         .relu = relu ? 1 : 0},
               {memory(from), weights.buffer, biased ? memory(bias) : weights.buffer, memory(out.to), scratch});
}

// Describes a phase: every stride-th pixel of one side of an image, starting at `first`. The gradient of a phase is a
// convolution of that side of dy with `taps` pixels of the window, first_tap + stride * k, from last to first.
struct Phase {
  int64_t first, count, first_tap, taps, pad;

  Phase(int64_t phase, int64_t side, int64_t kernel, int64_t stride, int64_t padding)
      : first((phase - padding % stride + stride) % stride),
        count(first < side ? (side - first - 1) / stride + 1 : 0),
        first_tap(phase),
        taps(phase < kernel ? (kernel - phase - 1) / stride + 1 : 0),
        pad(taps - 1 - (first + padding - phase) / stride) {}
};

struct Phases {
  // The phases of rows and columns that have pixels of both the image and the window.
  std::vector<std::pair<Phase, Phase>> all;
  bool whole = true;   // every pixel of the image is in a phase
  bool padded = true;  // no padding is below 0

  explicit Phases(const ops::Window& w) {
    for (int64_t i = 0; i < w.stride_h; ++i)
      for (int64_t j = 0; j < w.stride_w; ++j) {
        const Phase rows(i, w.height, w.kernel_h, w.stride_h, w.pad_h),
            columns(j, w.width, w.kernel_w, w.stride_w, w.pad_w);
        if (rows.count == 0 || columns.count == 0) continue;
        if (rows.taps == 0 || columns.taps == 0) {
          whole = false;
          continue;
        }
        padded = padded && rows.pad >= 0 && columns.pad >= 0;
        all.emplace_back(rows, columns);
      }
  }
};

// Describes dy as the images of a convolution whose windows are the pixels of a phase.
ops::Window window_of(const ConvProblem& p, const Phase& rows, const Phase& columns) {
  ops::Window w;
  w.height = p.window.out_height();
  w.width = p.window.out_width();
  w.channels = p.out_channels;
  w.kernel_h = rows.taps;
  w.kernel_w = columns.taps;
  w.pad_h = rows.pad;
  w.pad_w = columns.pad;
  w.more_h = rows.count - 1 + rows.taps - w.height - 2 * w.pad_h;
  w.more_w = columns.count - 1 + columns.taps - w.width - 2 * w.pad_w;
  return w;
}

// Copies the pixels of the window that each phase uses, phase after phase.
void turn_weights(Launcher& launcher, const ConvProblem& p, const Phases& phases, cl_mem to) {
  const ops::Window& w = p.window;
  int64_t offset = 0;
  for (const auto& [rows, columns] : phases.all) {
    launcher.run(lines_kernel(launcher.device(), w.channels, "turn_weights"), {{rows.taps * columns.taps, 1, 1}},
                 TurnWeightsArgs{.weight = view(p.weight),
                                 .turned_offset = offset,
                                 .kernel_w = narrow(w.kernel_w),
                                 .channels = narrow(w.channels),
                                 .out_channels = narrow(p.out_channels),
                                 .stride_h = narrow(w.stride_h),
                                 .stride_w = narrow(w.stride_w),
                                 .first_h = narrow(rows.first_tap),
                                 .first_w = narrow(columns.first_tap),
                                 .taps_h = narrow(rows.taps),
                                 .taps_w = narrow(columns.taps),
                                 .reserved = 0},
                 {memory(p.weight), to});
    offset += rows.taps * columns.taps * w.channels * p.out_channels;
  }
}

}  // namespace

bool suits_lines(const mk_device& device, const ConvProblem& p) { return uses_lines(device, p) && p.out_channels >= 4; }

void lines_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  convolve(launcher, p.images, p.window, {memory(p.weight), view(p.weight), p.out_channels}, bias, relu,
           {p.windows, p.out_channels, p.window.out_width() * p.out_channels});
}

bool suits_lines_grad_input(const mk_device& device, const ConvProblem& p) {
  return uses_lines(device, p) && p.window.channels >= 4 && Phases(p.window).padded;
}

void lines_grad_input(Launcher& launcher, const ConvProblem& p) {
  const ops::Window& w = p.window;
  const Phases phases(w);
  const cl_mem turned = launcher.queue().kept(p.weight, "turned", w.patch() * p.out_channels,
                                              [&](cl_mem to) { turn_weights(launcher, p, phases, to); });
  if (!phases.whole) fill(launcher, ops::fill(p.images, 0.0F));
  int64_t offset = 0;
  for (const auto& [rows, columns] : phases.all) {
    mk_tensor to = p.images;
    to.offset += (rows.first * w.width + columns.first) * w.channels;
    convolve(launcher, p.windows, window_of(p, rows, columns), {turned, {offset, w.channels}, w.channels}, {}, false,
             {to, w.stride_w * w.channels, w.stride_h * w.width * w.channels});
    offset += rows.taps * columns.taps * w.channels * p.out_channels;
  }
}

namespace {

// All these constants determine the order of sums, so they are the same on every device.
constexpr int64_t kPixelsEach = 1024;               // windows per part; smaller parts are not worth their sums
constexpr int64_t kPartsFloats = int64_t{4} << 20;  // limit for all parts together
constexpr int64_t kFewestParts = 8;                 // least number of parts, for the cores, even if the sums are large
constexpr int64_t kMostFloats = int64_t{1} << 20;   // limit for one part
constexpr int64_t kWidest = 16;                     // largest number of lanes of a vector
constexpr int64_t kSlack = 12;                      // room for the registers of a tile, which extend past the last line

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

const LibraryKernel& grad_kernel(mk_device& device, const ConvProblem& p, const char* name) {
  return device.kernel(with_tiles(device, "lines_grad", kConvLinesGrad, p.out_channels), name);
}

}  // namespace

// Requires at least 4 output channels, because fewer leave most of a vector empty.
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
  launcher.run(grad_kernel(device, p, "conv2d_lines_grad"), {{bands.parts, 1, 1}},
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
  launcher.run(grad_kernel(device, p, "lines_sum"), {{w.patch(), 1, 1}},
               LinesSumArgs{.dweight = view(p.weight),
                            .parts = bands.parts,
                            .part_each = bands.part_floats,
                            .rows = narrow(w.patch()),
                            .columns = narrow(p.out_channels)},
               {parts, memory(p.weight)});
}

}  // namespace mokume::opencl
