#include "pool/pool.hpp"

#include <algorithm>

#include "common/grid.hpp"
#include "pool/pool.embed.hpp"
#include "pool/pool_args.h"
#include "pool/window.embed.hpp"
#include "pool/window_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// `form` is HALVES, WHOLE or empty (pool.cl). Only a GPU gains from a program of its own for a form.
const LibraryKernel& pool_kernel(mk_device& device, int64_t channels, int64_t most, const char* form, const char* name,
                                 std::initializer_list<View> views) {
  const int width = channel_width(device, channels);
  BuiltIn program = for_views(device, "pools", kPoolPool, width, views, most);
  if (*form != 0 && device.info.kind == MK_DEVICE_GPU) {
    program.name += std::string(" ") + form;
    program.options += std::string(" -D") + form;
  }
  return device.kernel(program, name);
}

const char* form_of(const ops::Window& w) {
  const bool halves = w.kernel_h == 2 && w.kernel_w == 2 && w.stride_h == 2 && w.stride_w == 2 && w.pad_h == 0 &&
                      w.pad_w == 0 && !w.dilated() && !w.lopsided();
  return halves ? "HALVES" : "";
}

MaxPoolArgs args_of(const ImageLaunch& l, const ops::Window& w, const mk_tensor& images, const mk_tensor& windows,
                    const mk_tensor& places, const mk_tensor* x) {
  return {.grid = l.grid,
          .images = view(images),
          .windows = view(windows),
          .places = view(places),
          .x = x != nullptr ? view(*x) : view(images),
          .sides = sides_of(w),
          .after_relu = x != nullptr ? 1 : 0,
          .reserved = 0};
}

AvgPoolArgs args_of(const ImageLaunch& l, const ops::AvgPool& p, const mk_tensor& images, const mk_tensor& cells) {
  return {.grid = l.grid,
          .images = view(images),
          .cells = view(cells),
          .height = narrow(p.height),
          .width = narrow(p.width),
          .channels = narrow(p.channels),
          .out_h = narrow(p.out_h),
          .out_w = narrow(p.out_w),
          .reserved = 0};
}

void run_average(Launcher& launcher, const char* name, const ImageLaunch& l, const ops::AvgPool& p,
                 const mk_tensor& images, const mk_tensor& cells, std::initializer_list<cl_mem> buffers) {
  mk_device& device = launcher.device();
  const int64_t most = std::max({l.grid.rows, (p.height + 1) * (p.out_h + 1), (p.width + 1) * (p.out_w + 1)});
  const std::initializer_list<View> views{view(images), view(cells)};
  if (p.kernel_h == 0) {
    const char* form = p.out_h == 1 && p.out_w == 1 ? "WHOLE" : "";
    return launcher.run(pool_kernel(device, p.channels, most, form, name, views), l.range, args_of(l, p, images, cells),
                        buffers);
  }
  const int width = channel_width(device, p.channels);
  const LibraryKernel& kernel = device.kernel(for_views(device, "averages", kPoolWindow, width, views, most), name);
  launcher.run(kernel, l.range,
               AvgWindowArgs{.grid = l.grid,
                             .images = view(images),
                             .cells = view(cells),
                             .sides = {.height = narrow(p.height),
                                       .width = narrow(p.width),
                                       .channels = narrow(p.channels),
                                       .kernel_h = narrow(p.kernel_h),
                                       .kernel_w = narrow(p.kernel_w),
                                       .stride_h = narrow(p.stride_h),
                                       .stride_w = narrow(p.stride_w),
                                       .pad_h = narrow(p.pad_h),
                                       .pad_w = narrow(p.pad_w),
                                       .out_h = narrow(p.out_h),
                                       .out_w = narrow(p.out_w),
                                       .out_channels = 0},
                             .counts_padding = narrow(p.counts_padding),
                             .reserved = 0},
               buffers);
}

}  // namespace

void max_pool(Launcher& launcher, const mk_op& op) {
  const ops::Window w = ops::window_of(op.max_pool);
  const mk_tensor &images = op.inputs[0], &out = op.outputs[0], &places = op.outputs[1];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const ImageLaunch l(device, images.rows * w.out_height(), w.out_width(), w.channels);
  launcher.run(pool_kernel(device, w.channels, l.grid.rows, form_of(w), "max_pool", {view(images), view(out)}), l.range,
               args_of(l, w, images, out, places, nullptr), {memory(images), memory(out), memory(places)});
}

void max_pool_grad(Launcher& launcher, const mk_op& op) {
  const ops::Window w = ops::window_of(op.max_pool);
  const mk_tensor &grad = op.inputs[0], &places = op.inputs[1], &dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  mk_device& device = launcher.device();
  const ImageLaunch l(device, dx.rows * w.height, w.width, w.channels);
  const mk_tensor* x = ops::relu_of_grad(op);
  const MaxPoolArgs args = args_of(l, w, dx, grad, places, x);
  launcher.run(
      pool_kernel(device, w.channels, l.grid.rows, form_of(w), "max_pool_grad", {args.windows, args.images, args.x}),
      l.range, args, {memory(grad), memory(places), memory(x != nullptr ? *x : dx), memory(dx)});
}

void avg_pool(Launcher& launcher, const mk_op& op) {
  const ops::AvgPool p = ops::avg_pool_of(op);
  const mk_tensor &images = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const ImageLaunch l(device, images.rows * p.out_h, p.out_w, p.channels);
  run_average(launcher, p.kernel_h == 0 ? "avg_pool" : "avg_window", l, p, images, out, {memory(images), memory(out)});
}

void avg_pool_grad(Launcher& launcher, const mk_op& op) {
  const ops::AvgPool p = ops::avg_pool_of(op);
  const mk_tensor &grad = op.inputs[0], &dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  mk_device& device = launcher.device();
  const ImageLaunch l(device, dx.rows * p.height, p.width, p.channels);
  run_average(launcher, p.kernel_h == 0 ? "avg_pool_grad" : "avg_window_grad", l, p, dx, grad,
              {memory(grad), memory(dx)});
}

}  // namespace mokume::opencl
