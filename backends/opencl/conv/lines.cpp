#include "conv/lines.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conv/lines.embed.hpp"
#include "conv/lines_args.h"
#include "conv/phases.hpp"
#include "elementwise/elementwise.hpp"

namespace mokume::opencl {

BuiltIn with_tiles(const mk_device& device, const char* name, const char* source, int64_t channels) {
  BuiltIn program = for_width(name, source, filters_width(device, channels));
  program.options += " -DREGISTERS=" + std::to_string(device.vector_registers);
  return program;
}

bool uses_lines(const mk_device& device, const ops::Window& w, int64_t channels) {
  return uses_vectors(device) && device.choices.conv == "winograd" && !w.dilated() && channels / w.groups >= 4;
}

WindowSides group_sides(const ops::Window& w, int64_t out_channels) {
  WindowSides sides = sides_of(w, out_channels / w.groups);
  sides.channels = narrow(w.group_channels());
  return sides;
}

namespace {

constexpr int64_t kWindows = 12;  // number of windows in a register tile, which may extend past the end of a row

const LibraryKernel& lines_kernel(mk_device& device, int64_t channels, const char* name) {
  return device.kernel(with_tiles(device, "lines", kConvLines, channels), name);
}

// Locates the outputs of a convolution in the rows of a matrix: neighbouring windows are `step` floats apart, and rows
// of windows are `line` floats apart.
struct Places {
  mk_tensor to;
  int64_t step, line;
};

int64_t line_of(const ops::Window& w) { return (w.width + 2 * w.pad_w + w.more_w) * w.group_channels(); }

// Returns the rows of windows per band, whose lines stay in a core's cache. The number depends on the shape alone.
int64_t rows_of_band(const ops::Window& w) {
  constexpr int64_t kFloats = 12288;
  return std::clamp<int64_t>((kFloats / line_of(w) - w.kernel_h) / w.stride_h + 1, 1, w.out_height());
}

// Holds weights in a matrix with a row for each element of a group's patch.
struct Weights {
  cl_mem buffer;
  View at;
  int64_t out_channels;
};

// Returns the rows of windows that leave each core a band of a few images, if their work is worth sharing. It affects
// no bits, since every window has a sum of its own.
int64_t rows_of_core(const mk_device& device, int64_t images, const ops::Window& w, int64_t out_channels) {
  constexpr int64_t kWorthSharing = 100'000;  // multiplications
  if (images >= device.cores || images * w.out_pixels() * w.patch() * out_channels < kWorthSharing)
    return w.out_height();
  return divide_up(w.out_height(), divide_up(device.cores, images));
}

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
  LineBands(const mk_device& device, int64_t count, const ops::Window& w, int64_t out_channels)
      : images(1),
        rows(std::min(rows_of_band(w), rows_of_core(device, count, w, out_channels))),
        line(line_of(w)),
        apart(0) {
    const int64_t groups = divide_up(count, kWindows);
    const int64_t together = std::min(count, round_up(divide_up(count, groups), 4));
    const int64_t row_steps = w.out_height() * w.kernel_h * w.kernel_w * rows_of_tiles(device, w.out_width());
    const int64_t steps = pixels_inside(w.out_height(), w.kernel_h, w.stride_h, w.pad_h, w.height) *
                          pixels_inside(w.out_width(), w.kernel_w, w.stride_w, w.pad_w, w.width);
    if (together == 1 || 20 * steps * rows_of_tiles(device, together) > 19 * row_steps * together) return;
    constexpr int64_t kFloats = 32768;  // for the images of a band
    images = together;
    line = w.width * w.group_channels();
    const int64_t fit = (kFloats / images / line - w.kernel_h) / w.stride_h + 1;
    rows = std::clamp<int64_t>(std::min(fit, groups * w.out_height() / (4 * device.cores)), 1, w.out_height());
    apart = (divide_up(lines(w) * line, 16) | 1) * 16;  // avoids images that share the sets of a cache
  }

  int64_t lines(const ops::Window& w) const { return (rows - 1) * w.stride_h + w.kernel_h; }
  int64_t floats(const ops::Window& w) const {
    if (images > 1) return round_up(images, kWindows) * apart;
    return round_up(lines(w) * line + kWindows * w.stride_w * w.group_channels(), 16);
  }
};

void convolve(Launcher& launcher, const mk_tensor& from, const ops::Window& w, const Weights& weights,
              const mk_tensor& bias, bool relu, const Places& out) {
  mk_device& device = launcher.device();
  const LineBands b(device, from.rows, w, weights.out_channels);
  const int64_t per_image = divide_up(w.out_height(), b.rows),
                bands = divide_up(from.rows, b.images) * per_image * w.groups;
  const int64_t each = divide_up(bands, std::min(bands, 8 * device.cores)), items = divide_up(bands, each);
  const int64_t scratch_each = b.floats(w);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, items * scratch_each);
  const bool biased = bias.buffer != nullptr;
  launcher.run(lines_kernel(device, weights.out_channels / w.groups, "conv2d_lines"), {{items, 1, 1}},
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
                         .sides = group_sides(w, weights.out_channels),
                         .rows_each = narrow(b.rows),
                         .bands_per_image = narrow(per_image),
                         .images_each = narrow(b.images),
                         .groups = narrow(w.groups),
                         .line = narrow(b.line),
                         .biased = biased ? 1 : 0,
                         .relu = relu ? 1 : 0,
                         .reserved = 0},
               {memory(from), weights.buffer, biased ? memory(bias) : weights.buffer, memory(out.to), scratch});
}

}  // namespace

bool suits_lines(const mk_device& device, const ConvProblem& p) { return uses_lines(device, p.window, p.out_channels); }

void lines_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  convolve(launcher, p.images, p.window, {memory(p.weight), view(p.weight), p.out_channels}, bias, relu,
           {p.windows, p.out_channels, p.window.out_width() * p.out_channels});
}

bool suits_lines_grad_input(const mk_device& device, const ConvProblem& p) {
  return uses_lines(device, p.window, p.window.channels) && Phases(p.window).padded;
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
    offset += rows.taps * columns.taps * w.group_channels() * p.out_channels;
  }
}

}  // namespace mokume::opencl
