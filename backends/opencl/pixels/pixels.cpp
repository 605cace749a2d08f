#include "pixels/pixels.hpp"

#include "common/grid.hpp"
#include "pixels/pixels.embed.hpp"
#include "pixels/pixels_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

const LibraryKernel& pixels_kernel(mk_device& device, int64_t channels, const char* name, const PixelArgs& args) {
  const int width = channel_width(device, channels);
  return device.kernel(
      for_views(device, "gathered pixels", kPixelsPixels, width, {args.images, args.shown}, args.grid.rows), name);
}

PixelArgs args_of(const mk_op& op, const ImageLaunch& l, const mk_tensor& images, const mk_tensor& shown) {
  const ops::PixelMap map = ops::pixel_map_of(op);
  return {.grid = l.grid,
          .images = view(images),
          .shown = view(shown),
          .row_offset = op.inputs[1].offset,
          .column_offset = op.inputs[2].offset,
          .height = narrow(map.height),
          .width = narrow(map.width),
          .channels = narrow(map.channels),
          .out_h = narrow(map.out_h),
          .out_w = narrow(map.out_w),
          .reserved = 0};
}

}  // namespace

void gather_pixels(Launcher& launcher, const mk_op& op) {
  const mk_tensor &images = op.inputs[0], &shown = op.outputs[0];
  if (sdk::empty(shown)) return;
  const ops::PixelMap map = ops::pixel_map_of(op);
  mk_device& device = launcher.device();
  const ImageLaunch l(device, shown.rows * map.out_h, map.out_w, map.channels);
  const PixelArgs args = args_of(op, l, images, shown);
  launcher.run(pixels_kernel(device, map.channels, "gather_pixels", args), l.range, args,
               {memory(images), memory(op.inputs[1]), memory(op.inputs[2]), memory(shown)});
}

void gather_pixels_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &shown = op.inputs[0], &images = op.outputs[0];
  if (sdk::empty(images)) return;
  const ops::PixelMap map = ops::pixel_map_of(op);
  mk_device& device = launcher.device();
  const ImageLaunch l(device, images.rows * map.height, map.width, map.channels);
  const PixelArgs args = args_of(op, l, images, shown);
  launcher.run(pixels_kernel(device, map.channels, "gather_pixels_grad", args), l.range, args,
               {memory(shown), memory(op.inputs[1]), memory(op.inputs[2]), memory(images)});
}

}  // namespace mokume::opencl
