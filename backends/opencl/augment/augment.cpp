#include "augment/augment.hpp"

#include "augment/augment.embed.hpp"
#include "augment/augment_args.h"
#include "common/grid.hpp"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

constexpr size_t kColumnSumsSlot = 2;

AugmentArgs args_of(const ImageLaunch& l, const mk_op& op) {
  const ops::Augment a = ops::augment_of(op);
  const auto& [seed, step, first_row] = op.augment.place;
  return {.grid = l.grid,
          .x = view(op.inputs[0]),
          .out = view(op.outputs[0]),
          .x_rows = op.inputs[0].rows,
          .index_offset = op.inputs[1].offset,
          .first_row = first_row,
          .flip_x = ops::augment_threshold(a.horizontal),
          .flip_y = ops::augment_threshold(a.vertical),
          .erase = ops::augment_threshold(a.erase_p),
          .key0 = static_cast<uint32_t>(seed),
          .key1 = static_cast<uint32_t>(seed >> 32),
          .step = static_cast<uint32_t>(step),
          .height = narrow(a.height),
          .width = narrow(a.width),
          .channels = narrow(a.channels),
          .shift = narrow(a.shift),
          .erased = narrow(a.erase),
          .radians = ops::augment_radians(a),
          .brightness = static_cast<float>(a.brightness),
          .contrast = static_cast<float>(a.contrast),
          .saturation = static_cast<float>(a.saturation),
          .hue = ops::augment_hue(a),
          .per_pixel = 1.0F / static_cast<float>(a.height * a.width),
          .per_channel = 1.0F / static_cast<float>(a.channels),
          .reserved = 0};
}

}  // namespace

// If x has no rows, every index is out of range, and the kernels do not read the memory that replaces x.
void augment(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &index = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const ops::Augment a = ops::augment_of(op);
  const int64_t lines = out.rows * a.height;
  const auto kernel = [&](const char* name) -> const LibraryKernel& {
    return device.kernel(for_width("augment", kAugmentAugment, 1), name);
  };
  const cl_mem images = memory(sdk::empty(x) ? out : x);
  cl_mem sums = images;
  if (a.contrast > 0) {
    const ImageLaunch l(device, lines, 1, 1);
    sums = launcher.queue().workspace(kColumnSumsSlot, lines);
    launcher.run(kernel("augment_lines"), l.range, args_of(l, op), {images, memory(index), sums});
  }
  const ImageLaunch l(device, lines, a.width, 1);
  launcher.run(kernel("augment_images"), l.range, args_of(l, op), {images, memory(index), sums, memory(out)});
}

}  // namespace mokume::opencl
