#include "conv/winograd.hpp"

#include <algorithm>

#include "conv/minimal_filtering.hpp"
#include "conv/winograd.embed.hpp"
#include "conv/winograd_args.h"
#include "gemm/vector.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kScratchFloats = int64_t{16} << 20;  // limit for all work-items, unless one per core needs more
// Number of tiles summed at once for the gradient of the weights: two blocks of the product.
constexpr int64_t kTilesSummed = 512;

// Limits the input and output channels combined, which keeps transformed weights below 40 MB, the tiles summed at once
// below 80 MB, and the memory of one work-item below 5 MB. A constant limit keeps bits independent of the device.
constexpr int64_t kMostChannels = 1024;

// `block` is the number of adjacent channels, KC of winograd.cl.
const LibraryKernel& winograd_kernel(mk_device& device, const char* name, int64_t block) {
  const std::string width = std::to_string(device.vector_width), kc = std::to_string(block);
  return device.kernel({"winograd/" + width + "/" + kc, kConvWinograd, vector_options(device) + " -DKC=" + kc}, name);
}

int64_t channel_block(int64_t channels) {
  int64_t block = 64;
  while (channels % block != 0) block /= 2;
  return block;
}

cl_mem transformed_weights(Launcher& launcher, const FilteredConvolution& c, const mk_tensor& weight, int64_t block) {
  const int64_t panel = 2 * launcher.device().vector_width, panels = divide_up(c.lanes, panel);
  return launcher.queue().kept(
      weight, c.back ? "winograd back" : "winograd", kSpace * panels * panel * c.terms, [&](cl_mem transformed) {
        launcher.run(winograd_kernel(launcher.device(), "winograd_weights", block), {{panels * 2, c.terms, 1}},
                     WinogradWeightsArgs{.weight = view(weight),
                                         .terms = narrow(c.terms),
                                         .lanes = narrow(c.lanes),
                                         .flip = c.back ? 1 : 0,
                                         .reserved = 0},
                     {memory(weight), transformed});
      });
}

void convolve(Launcher& launcher, const FilteredConvolution& c, const mk_tensor& weight, const mk_tensor& bias,
              bool relu) {
  mk_device& device = launcher.device();
  const int64_t mr = VectorSizes(device.vector_width).mr, tiles_at_once = 2 * mr, panel = 2 * device.vector_width;
  const int64_t block = channel_block(c.terms), panels = divide_up(c.lanes, panel), cores = device.cores;
  const cl_mem weights = transformed_weights(launcher, c, weight, block);

  const int64_t all = filtered_tiles(c.sides.out_h, c.sides.out_w) * c.to.rows;
  // With few tiles, the cores share the output channels, so that each core reads only its part of the weights.
  const bool few = all <= tiles_at_once;
  const int64_t panels_each = few ? divide_up(panels, cores) : panels, groups = divide_up(panels, panels_each);
  const int64_t scratch_each = kSpace * tiles_at_once * (c.terms + panel);
  const int64_t most_items = std::min(8 * cores, std::max(cores, kScratchFloats / scratch_each));
  // If there are few of those, too, the cores share the tiles, of which each takes a block of rows of the product.
  const int64_t items = few ? std::clamp<int64_t>(cores / groups, 1, divide_up(all, mr))
                            : std::clamp<int64_t>(all / tiles_at_once, std::min(cores, all), most_items);
  const int64_t even = divide_up(all, items), each = even > tiles_at_once ? round_up(even, mr) : even;
  const int64_t parts = divide_up(all, each);
  const cl_mem scratch = launcher.queue().workspace(kScratchSlot, parts * groups * scratch_each);
  const bool biased = bias.buffer != nullptr;
  launcher.run(winograd_kernel(device, "winograd_conv2d", block), {{parts, groups, 1}},
               WinogradConvArgs{.images = view(c.from),
                                .out = view(c.to),
                                .bias_offset = bias.offset,
                                .tiles = all,
                                .tiles_each = each,
                                .sides = c.sides,
                                .biased = biased ? 1 : 0,
                                .relu = relu ? 1 : 0,
                                .panels_each = narrow(panels_each),
                                .reserved = 0},
               {memory(c.from), weights, biased ? memory(bias) : weights, memory(c.to), scratch});
}

}  // namespace

bool suits_winograd(const mk_device& device, const ConvProblem& p) {
  const ops::Window& w = p.window;
  return (device.info.kind != MK_DEVICE_GPU || uses_vectors(device)) && device.choices.conv == "winograd" &&
         !device.choices.strict() && p.plain() && has_filtered_window(w) && w.channels % device.vector_width == 0 &&
         p.out_channels % device.vector_width == 0 && w.channels + p.out_channels <= kMostChannels;
}

void winograd_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  convolve(launcher, FilteredConvolution::forward(p), p.weight, bias, relu);
}

void winograd_grad_input(Launcher& launcher, const ConvProblem& p) {
  convolve(launcher, FilteredConvolution::backward(p), p.weight, {}, false);
}

void winograd_grad_weight(Launcher& launcher, const ConvProblem& p) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t width = device.vector_width, channels = w.channels, out_channels = p.out_channels;
  const auto kernel = [&](const char* name) -> const LibraryKernel& {
    return winograd_kernel(device, name, channel_block(channels));
  };
  const int64_t tiles = filtered_tiles(w.out_height(), w.out_width()) * p.images.rows;
  const int64_t most = std::min(kTilesSummed, tiles);
  // The product reads whole registers, which extend past the last channel.
  const int64_t grads_at = kSpace * most * channels, slack = 2 * width;
  const cl_mem spread = launcher.queue().workspace(kScratchSlot, grads_at + kSpace * most * out_channels + slack);
  const cl_mem sums = launcher.queue().workspace(kSumsSlot, kSpace * channels * out_channels);
  const int64_t rows_each = 3, parts = divide_up(channels, rows_each * VectorSizes(device.vector_width).mr);
  for (int64_t first = 0; first < tiles; first += most) {
    const int64_t count = std::min(most, tiles - first);
    launcher.run(kernel("winograd_spread"), {{count, 1, 1}},
                 WinogradTransformArgs{.images = view(p.images),
                                       .grads = view(p.windows),
                                       .grads_at = grads_at,
                                       .first = first,
                                       .most = most,
                                       .sides = p.sides()},
                 {memory(p.images), memory(p.windows), spread});
    launcher.run(kernel("winograd_sum"), {{parts, kSpace, 1}},
                 WinogradSumArgs{.grads_at = grads_at,
                                 .most = most,
                                 .channels = narrow(channels),
                                 .out_channels = narrow(out_channels),
                                 .count = narrow(count),
                                 .rows_each = narrow(rows_each),
                                 .first = first == 0 ? 1 : 0,
                                 .reserved = 0},
                 {spread, sums});
  }
  launcher.run(kernel("winograd_weight_grads"), {{out_channels / width, channels, 1}},
               WinogradWeightGradsArgs{
                   .out = view(p.weight), .channels = narrow(channels), .out_channels = narrow(out_channels)},
               {sums, memory(p.weight)});
}

}  // namespace mokume::opencl
