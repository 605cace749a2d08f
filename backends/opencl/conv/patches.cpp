#include "conv/patches.hpp"

#include <algorithm>

#include "conv/patches.embed.hpp"
#include "conv/patches_args.h"
#include "conv/pixels.embed.hpp"
#include "conv/pixels_args.h"
#include "gemm/gemm.hpp"

namespace mokume::opencl {
namespace {

mk_tensor some_of(const mk_tensor& images, int64_t first, int64_t count) {
  return sdk::matrix(images.buffer, count, images.columns, images.row_stride,
                     images.offset + first * images.row_stride);
}

const LibraryKernel& patches_kernel(mk_device& device, int64_t run, const char* name) {
  return device.kernel(for_width("patches", kConvPatches, channel_width(device, run)), name);
}

PatchesArgs args_of(const ImageLaunch& l, const ops::Window& w, const mk_tensor& images, const mk_tensor& patches) {
  return {.grid = l.grid, .images = view(images), .patches = view(patches), .sides = sides_of(w)};
}

bool pixel_by_pixel(const ops::Window& w) { return w.dilated() || w.groups > 1; }

const LibraryKernel& pixels_kernel(mk_device& device, const ops::Window& w, const char* name) {
  return device.kernel(for_width("pixels", kConvPixels, channel_width(device, w.group_channels())), name);
}

PixelsArgs args_of(const ImageLaunch& l, const ops::Window& w, int64_t group, const mk_tensor& images,
                   const mk_tensor& patches) {
  return {.grid = l.grid,
          .images = {images.offset + group * w.group_channels(), images.row_stride},
          .patches = view(patches),
          .sides = sides_of(w),
          .dilation_h = narrow(w.dilation_h),
          .dilation_w = narrow(w.dilation_w),
          .each = narrow(w.group_channels()),
          .reserved = 0};
}

// Copies one group's patches under the windows of images, one per row. Element (i * kernel_w + j) * group_channels + k
// is channel k of the group in pixel (i, j) of the window, or 0 in the padding. Neither operand is empty.
void unfold(Launcher& launcher, const mk_tensor& images, const ops::Window& w, int64_t group,
            const mk_tensor& patches) {
  mk_device& device = launcher.device();
  if (pixel_by_pixel(w)) {
    const ImageLaunch l(device, images.rows * w.out_height(), w.out_width(), w.group_channels());
    launcher.run(pixels_kernel(device, w, "unfold_pixels"), l.range, args_of(l, w, group, images, patches),
                 {memory(images), memory(patches)});
    return;
  }
  const bool runs = uses_vectors(device);  // CPUs copy whole runs
  const int64_t rows = images.rows * w.out_height();
  const ImageLaunch l(device, rows, runs ? 1 : w.out_width(), runs ? w.out_width() * w.patch() : w.patch());
  const LibraryKernel& kernel =
      runs ? patches_kernel(device, std::max<int64_t>(w.kernel_w * w.channels, 4), "unfold_vector")
           : patches_kernel(device, 1, "unfold_scalar");
  launcher.run(kernel, l.range, args_of(l, w, images, patches), {memory(images), memory(patches)});
}

// Does the transpose of unfold: adds up the patches into the channels of one group. Every pixel is the sum of the
// elements to which unfold copies it, in the order of the window's pixels, starting from 0.
void fold(Launcher& launcher, const mk_tensor& patches, const ops::Window& w, int64_t group, const mk_tensor& images) {
  mk_device& device = launcher.device();
  if (pixel_by_pixel(w)) {
    const ImageLaunch l(device, images.rows * w.height, w.width, w.group_channels());
    launcher.run(pixels_kernel(device, w, "fold_pixels"), l.range, args_of(l, w, group, images, patches),
                 {memory(patches), memory(images)});
    return;
  }
  const ImageLaunch l(device, images.rows * w.height, w.width, w.channels);
  launcher.run(patches_kernel(device, w.channels, "fold"), l.range, args_of(l, w, images, patches),
               {memory(patches), memory(images)});
}

// Calls body(first, count) for a few images at a time. Their patches fit into a CPU's cache (measured: 6 MiB) or make a
// product large enough for a GPU. Takes one image at a time if the product's rows are not contiguous.
template <class Body>
void for_some_images(const mk_device& device, const ConvProblem& p, Body&& body) {
  const int64_t bytes = int64_t{device.info.kind == MK_DEVICE_CPU ? 6 : 128} << 20;
  const int64_t fit = bytes / kFloat / p.window.patch() / p.window.out_pixels();
  const int64_t each = p.dense() ? std::max<int64_t>(fit, 1) : 1;
  for (int64_t first = 0; first < p.images.rows; first += each) body(first, std::min(each, p.images.rows - first));
}

// Returns the filters of one group as a matrix with one column per filter.
mk_tensor filters_of(const mk_tensor& t, const ops::Window& w, int64_t group) {
  if (t.buffer == nullptr) return t;
  const int64_t each = t.columns / w.groups;
  return sdk::matrix(t.buffer, t.rows, each, t.row_stride, t.offset + group * each);
}

mk_tensor patches_of(Launcher& launcher, const ConvProblem& p, int64_t images) {
  const int64_t rows = images * p.window.out_pixels(), columns = p.window.patch();
  return sdk::matrix(&launcher.queue().workspace_buffer(kPatchesSlot, rows * columns), rows, columns);
}

}  // namespace

void patches_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, ops::Activation activation) {
  for_some_images(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count);
    for (int64_t g = 0; g < p.window.groups; ++g) {
      unfold(launcher, some_of(p.images, first, count), p.window, g, patches);
      gemm(launcher, ops::gemm_bias_act(patches, filters_of(p.weight, p.window, g), filters_of(bias, p.window, g),
                                        activation, filters_of(p.pixels(first, count), p.window, g)));
    }
  });
}

void patches_grad_input(Launcher& launcher, const ConvProblem& p) {
  for_some_images(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count);
    for (int64_t g = 0; g < p.window.groups; ++g) {
      gemm(launcher, ops::gemm(filters_of(p.pixels(first, count), p.window, g), false,
                               filters_of(p.weight, p.window, g), true, patches));
      fold(launcher, patches, p.window, g, some_of(p.images, first, count));
    }
  });
}

void patches_grad_weight(Launcher& launcher, const ConvProblem& p) {
  for_some_images(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count);
    for (int64_t g = 0; g < p.window.groups; ++g) {
      unfold(launcher, some_of(p.images, first, count), p.window, g, patches);
      gemm(launcher, ops::gemm(patches, true, filters_of(p.pixels(first, count), p.window, g), false,
                               filters_of(p.weight, p.window, g), 1.0F, first == 0 ? 0.0F : 1.0F));
    }
  });
}

}  // namespace mokume::opencl
