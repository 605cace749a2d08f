// Windows over images. On CPUs unfold copies whole runs; everything else is one kernel for all devices.
#include <tuple>

#include "common/common.embed.hpp"
#include "platforms/describe.hpp"
#include "common/math.embed.hpp"
#include "ops.hpp"
#include "conv/patches.embed.hpp"
#include "pool/pool.embed.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/vector.embed.hpp"
#include "common/windows.embed.hpp"

namespace mokume::opencl {
namespace {

std::string patches_source() { return std::string(k_common_common) + k_common_vector + k_common_windows + k_conv_patches; }
std::string pools_source() { return std::string(k_common_common) + k_common_vector + k_common_math + k_common_windows + k_pool_pool; }

cl_kernel patches_kernel(mk_device& device, int64_t run, const char* name) {
  return device.kernel(for_width(device, "patches", patches_source, channel_width(device, run)), name);
}

cl_kernel pools_kernel(mk_device& device, int64_t channels, const char* name) {
  return device.kernel(for_width(device, "pools", pools_source, channel_width(device, channels)), name);
}

// The sides as the kernels' ints: check_window() has seen that they fit.
template <size_t Count>
std::array<int32_t, Count> ints(const std::array<int64_t, Count>& values) {
  std::array<int32_t, Count> narrow{};
  for (size_t i = 0; i < Count; ++i) narrow[i] = static_cast<int32_t>(values[i]);
  return narrow;
}

std::array<int32_t, 11> sides(const ops::Window& w) {
  return ints<11>({w.height, w.width, w.channels, w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.pad_h, w.pad_w,
                   w.out_height(), w.out_width()});
}

std::array<int32_t, 5> sides(const ops::AvgPool& p) {
  return ints<5>({p.height, p.width, p.channels, p.out_h, p.out_w});
}

// Runs a kernel whose arguments are a share, sides, and a memory, an offset and a row stride for each view.
template <size_t Count, class... Views>
void run(Launcher& launcher, cl_kernel kernel, const ImageShare& s, const std::array<int32_t, Count>& sides_,
         const Views&... views) {
  const auto with_sides = [&](const auto&... side) {
    const auto flat = [&](const auto&... all) { launcher.run(kernel, s.global, s.local, all...); };
    std::apply(flat, std::tuple_cat(std::make_tuple(s.rows, s.rows_each, s.columns_each, s.channels_each, side...),
                                    std::make_tuple(memory(views), views.offset, views.row_stride)...));
  };
  std::apply(with_sides, sides_);
}

}  // namespace

void unfold(Launcher& launcher, const mk_tensor& images, const ops::Window& w, const mk_tensor& out) {
  mk_device& device = launcher.device();
  const int64_t run_length = w.kernel_w * w.channels, rows = images.rows * w.out_height();
  if (!wide(device)) {
    const ImageShare s = share_images(device, rows, w.out_width(), w.patch());
    return run(launcher, patches_kernel(device, 1, "unfold_scalar"), s, sides(w), images, out);
  }
  const ImageShare s = share_images(device, rows, 1, w.out_width() * w.patch());
  run(launcher, patches_kernel(device, std::max<int64_t>(run_length, 4), "unfold_vector"), s, sides(w), images, out);
}

void fold(Launcher& launcher, const mk_tensor& patches, const ops::Window& w, const mk_tensor& out) {
  mk_device& device = launcher.device();
  const ImageShare s = share_images(device, out.rows * w.height, w.width, w.channels);
  run(launcher, patches_kernel(device, w.channels, "fold"), s, sides(w), patches, out);
}

void max_pool(Launcher& launcher, const mk_op& op) {
  const ops::Window w = ops::window_of(op);
  const mk_tensor &images = op.inputs[0], &out = op.outputs[0], &place = op.outputs[1];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const ImageShare s = share_images(device, images.rows * w.out_height(), w.out_width(), w.channels);
  run(launcher, pools_kernel(device, w.channels, "max_pool"), s, sides(w), images, out, place);
}

void max_pool_grad(Launcher& launcher, const mk_op& op) {
  const ops::Window w = ops::window_of(op);
  const mk_tensor &grad = op.inputs[0], &place = op.inputs[1], &dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  mk_device& device = launcher.device();
  const ImageShare s = share_images(device, dx.rows * w.height, w.width, w.channels);
  run(launcher, pools_kernel(device, w.channels, "max_pool_grad"), s, sides(w), grad, place, dx);
}

void avg_pool(Launcher& launcher, const mk_op& op) {
  const ops::AvgPool p = ops::avg_pool_of(op);
  const mk_tensor &images = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const ImageShare s = share_images(device, images.rows * p.out_h, p.out_w, p.channels);
  run(launcher, pools_kernel(device, p.channels, "avg_pool"), s, sides(p), images, out);
}

void avg_pool_grad(Launcher& launcher, const mk_op& op) {
  const ops::AvgPool p = ops::avg_pool_of(op);
  const mk_tensor &grad = op.inputs[0], &dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  mk_device& device = launcher.device();
  const ImageShare s = share_images(device, dx.rows * p.height, p.width, p.channels);
  run(launcher, pools_kernel(device, p.channels, "avg_pool_grad"), s, sides(p), grad, dx);
}

}  // namespace mokume::opencl
