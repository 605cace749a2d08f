#include "conv/spread.hpp"

#include <algorithm>

#include "conv/direct.hpp"
#include "conv/direct_args.h"
#include "conv/direct_grad.hpp"
#include "conv/spread.embed.hpp"
#include "gemm/vector.hpp"

namespace mokume::opencl {
namespace {

// The number of lanes of a vector per line of the window: EACH of spread.cl. GROUPS lines share a vector.
int64_t lanes_each(const ConvProblem& p) { return p.out_channels <= 4 ? 4 : 8; }

const LibraryKernel& spread_kernel(mk_device& device, int64_t lanes, const char* name) {
  const std::string each = std::to_string(lanes);
  return device.kernel({"conv_spread/" + std::to_string(device.vector_width) + "/" + each, kConvSpread,
                        direct_options(device) + " -DEACH=" + each},
                       name);
}

}  // namespace

// A whole image with GROUPS lines side by side must fit into a near cache.
bool suits_spread(const mk_device& device, const ConvProblem& p) {
  constexpr int64_t kMostPixels = int64_t{1} << 14;
  const int64_t lanes = lanes_each(p);
  return p.out_channels <= lanes && device.vector_width / lanes >= 2 && p.lines() * p.line() <= kMostPixels;
}

void spread_grad_weight(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t width = device.vector_width, lanes = lanes_each(p), groups = width / lanes;
  const int64_t mr = VectorSizes(width).mr, ring = kBlock / w.out_pixels() + 2;
  const int64_t bands = divide_up(w.kernel_h, groups), each = divide_up(bands, std::min(bands, device.cores));
  const int64_t padded = round_up((p.lines() + groups - 1) * p.line() + width, width);
  const int64_t image = padded + round_up((p.lines() * p.line() + std::max(mr, width)) * groups, width);
  const int64_t scratch_each = ring * image + each * w.kernel_w * width, items = divide_up(bands, each);
  const cl_mem scratch = launcher.queue().workspace(kSpreadSlot, items * scratch_each);
  const mk_tensor dy = readable_gradients(launcher, p, lanes);
  const OptionalView b(dbias, p.weight);
  launcher.run(spread_kernel(device, lanes, "conv2d_spread_grad"), {{items, 1, 1}},
               ConvSpreadArgs{.images = view(p.images),
                              .dy = view(dy),
                              .dweight = view(p.weight),
                              .dbias_offset = b.offset,
                              .pixels = p.images.rows * w.out_pixels(),
                              .image_floats = image,
                              .padded_floats = padded,
                              .scratch_each = scratch_each,
                              .sides = p.sides(),
                              .out_pixels = narrow(w.out_pixels()),
                              .wanted = b.there,
                              .bands_each = narrow(each),
                              .ring = narrow(ring),
                              .pixel_step = 1,
                              .reserved = 0},
               {memory(p.images), memory(dy), memory(p.weight), b.memory, scratch});
}

}  // namespace mokume::opencl
