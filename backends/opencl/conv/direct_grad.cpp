#include "conv/direct_grad.hpp"

#include <algorithm>

#include "conv/direct.hpp"
#include "conv/direct_args.h"
#include "conv/spread.embed.hpp"
#include "gemm/vector.hpp"

namespace mokume::opencl {
namespace {

// Copies the rows of `from` as consecutive padded images.
void copy_padded(Launcher& launcher, const mk_tensor& from, int64_t height, int64_t width, int64_t pad_h, int64_t pad_w,
                 cl_mem to) {
  launcher.run(direct_kernel(launcher.device(), "pad_images"), {{from.rows, 1, 1}},
               PadImagesArgs{.images = view(from),
                             .height = narrow(height),
                             .width = narrow(width),
                             .pad_h = narrow(pad_h),
                             .pad_w = narrow(pad_w)},
               {memory(from), to});
}

// Returns dy in a form in which kernels can read `reach` floats from the first channel of each pixel. If dy has fewer
// channels, this is a copy with room after the last pixel.
mk_tensor readable_gradients(Launcher& launcher, const ConvProblem& p, int64_t reach) {
  if (p.out_channels >= reach) return p.windows;
  const mk_tensor& dy = p.windows;
  mk_buffer& copy = launcher.queue().workspace_buffer(kSumsSlot, dy.rows * dy.columns + reach);
  copy_padded(launcher, dy, 1, dy.columns, 0, 0, copy.memory.get());
  return sdk::matrix(&copy, dy.rows, dy.columns);
}

// Returns EACH of spread.cl, the number of lanes for each line of the window. GROUPS lines share a vector.
int64_t lanes_each(const ConvProblem& p) { return p.out_channels <= 4 ? 4 : 8; }

const LibraryKernel& spread_kernel(mk_device& device, int64_t lanes, const char* name) {
  const std::string each = std::to_string(lanes);
  return device.kernel({"conv_spread/" + std::to_string(device.vector_width) + "/" + each, kConvSpread,
                        direct_options(device) + " -DEACH=" + each},
                       name);
}

// Requires that a whole image with GROUPS lines side by side fits into the core's cache.
bool suits_spread(const mk_device& device, const ConvProblem& p) {
  constexpr int64_t kMostPixels = int64_t{1} << 14;
  const int64_t lanes = lanes_each(p);
  return p.out_channels <= lanes && device.vector_width / lanes >= 2 && p.lines() * p.line() <= kMostPixels;
}

void spread_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces, const mk_tensor& dbias) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t width = device.vector_width, lanes = lanes_each(p), groups = width / lanes;
  const int64_t mr = VectorSizes(width).mr, ring = kBlock / w.out_pixels() + 2;
  const int64_t bands = divide_up(w.kernel_h, groups), each = divide_up(bands, std::min(bands, device.cores));
  const int64_t padded = round_up((p.lines() + groups - 1) * p.line() + width, width);
  const int64_t image = padded + round_up((p.lines() * p.line() + std::max(mr, width)) * groups, width);
  const int64_t scratch_each = ring * image + 2 * each * w.kernel_w * width, items = divide_up(bands, each);
  const cl_mem scratch = launcher.queue().workspace(kSpreadSlot, items * scratch_each);
  const mk_tensor dy = readable_gradients(launcher, p, lanes);
  const OptionalView b(dbias, p.weight);
  launcher.run(spread_kernel(device, lanes, "conv2d_spread_grad"), {{items, 1, 1}},
               ConvSpreadArgs{.images = view(p.images),
                              .dy = view(dy),
                              .dweight = view(p.weight),
                              .dbias_offset = b.offset,
                              .pixels = p.images.rows * w.out_pixels(),
                              .pixels_each = pieces.rows_each * w.out_width(),
                              .image_floats = image,
                              .padded_floats = padded,
                              .scratch_each = scratch_each,
                              .sides = p.sides(),
                              .out_pixels = narrow(w.out_pixels()),
                              .wanted = b.there,
                              .bands_each = narrow(each),
                              .ring = narrow(ring),
                              .pixel_step = 1,
                              .fresh = pieces.fresh ? 1 : 0},
               {memory(p.images), memory(dy), memory(p.weight), b.memory, scratch});
}

}  // namespace

// Requires that the window's lines fill a register tile, unless there are so few channels that the product of patches
// would be even slower.
bool suits_direct_grad(const mk_device& device, const ConvProblem& p) {
  constexpr int64_t kMostFloats = int64_t{32} << 20, kFewChannels = 32;
  const ops::Window& w = p.window;
  const int64_t padded = p.images.rows * p.lines() * p.line();
  const int64_t gradients = p.images.rows * w.out_pixels() * p.out_channels;
  if (!suits_direct(device, p) || padded > kMostFloats) return false;
  return p.out_channels >= kFewChannels ? w.kernel_w >= 5 : w.kernel_w >= 2 && gradients <= kMostFloats;
}

void direct_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces, const mk_tensor& dbias) {
  mk_device& device = launcher.device();
  if (suits_spread(device, p)) return spread_grad_weight(launcher, p, pieces, dbias);
  const ops::Window& w = p.window;
  // The registers of a tile, with this many neighbours, extend past the window's last line.
  const int64_t slack = VectorSizes(device.vector_width).mr;
  const cl_mem padded = launcher.queue().workspace(kScratchSlot, p.images.rows * p.lines() * p.line() + slack);
  copy_padded(launcher, p.images, w.height, w.width, w.pad_h, w.pad_w, padded);
  const int64_t strip = 2 * device.vector_width, strips = divide_up(p.out_channels, strip);
  const mk_tensor dy = readable_gradients(launcher, p, strip);
  const int64_t parts = std::min<int64_t>(w.kernel_h, divide_up(16 * device.cores, strips));
  const int64_t lines_each = divide_up(w.kernel_h, parts);
  const OptionalView b(dbias, p.weight);
  const int64_t scratch_each = lines_each * divide_up(w.kernel_w, slack) * slack * strip;
  const int64_t items = divide_up(w.kernel_h, lines_each);
  const cl_mem scratch = launcher.queue().workspace(kSpreadSlot, strips * items * scratch_each);
  launcher.run(direct_kernel(device, "conv2d_direct_grad"), {{strips, items, 1}},
               ConvDirectGradArgs{.dy = view(dy),
                                  .dweight = view(p.weight),
                                  .dbias_offset = b.offset,
                                  .pixels = p.images.rows * w.out_pixels(),
                                  .pixels_each = pieces.rows_each * w.out_width(),
                                  .scratch_each = scratch_each,
                                  .lines = narrow(p.lines()),
                                  .line = narrow(p.line()),
                                  .kernel_h = narrow(w.kernel_h),
                                  .kernel_w = narrow(w.kernel_w),
                                  .out_w = narrow(w.out_width()),
                                  .out_pixels = narrow(w.out_pixels()),
                                  .out_channels = narrow(p.out_channels),
                                  .wanted = b.there,
                                  .lines_each = narrow(lines_each),
                                  .pixel_step = 1,
                                  .fresh = pieces.fresh ? 1 : 0,
                                  .reserved = 0},
               {padded, memory(dy), memory(p.weight), b.memory, scratch});
}

}  // namespace mokume::opencl
