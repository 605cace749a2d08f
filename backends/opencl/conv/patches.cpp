#include "conv/patches.hpp"

#include <algorithm>

#include "conv/column_sums.hpp"
#include "conv/patches.embed.hpp"
#include "conv/patches_args.h"
#include "conv/phases.hpp"
#include "conv/pixels.embed.hpp"
#include "conv/pixels_args.h"
#include "elementwise/elementwise.hpp"
#include "gemm/gemm.hpp"

namespace mokume::opencl {
namespace {

// Some rows of windows of all images.
struct Rows {
  int64_t first, count;
};

const LibraryKernel& patches_kernel(mk_device& device, int64_t run, const char* name) {
  return device.kernel(for_width("patches", kConvPatches, channel_width(device, run)), name);
}

const LibraryKernel& pixels_kernel(mk_device& device, int64_t channels, const char* name) {
  return device.kernel(for_width("pixels", kConvPixels, channel_width(device, channels)), name);
}

// Copies one group's patches under the windows of some rows, one per row of `patches`. Element (i * kernel_w + j) *
// group_channels + k is channel k of the group in pixel (i, j) of the window, or 0 in the padding. Any padding may be
// below 0.
void unfold_pixels(Launcher& launcher, const mk_tensor& images, const ops::Window& w, Rows rows, int64_t group,
                   const mk_tensor& patches) {
  mk_device& device = launcher.device();
  const int64_t channels = w.group_channels();
  const ImageLaunch l(device, rows.count, w.out_width(), channels);
  launcher.run(pixels_kernel(device, channels, "unfold_pixels"), l.range,
               PixelsArgs{.grid = l.grid,
                          .images = {images.offset + group * channels, images.row_stride},
                          .patches = view(patches),
                          .first_row = rows.first,
                          .sides = sides_of(w),
                          .dilation_h = narrow(w.dilation_h),
                          .dilation_w = narrow(w.dilation_w),
                          .each = narrow(channels),
                          .reserved = 0},
               {memory(images), memory(patches)});
}

// Does the same for paddings of at least 0.
void unfold(Launcher& launcher, const mk_tensor& images, const ops::Window& w, Rows rows, int64_t group,
            const mk_tensor& patches) {
  if (w.dilated() || w.groups > 1) return unfold_pixels(launcher, images, w, rows, group, patches);
  mk_device& device = launcher.device();
  const bool runs = uses_vectors(device);  // CPUs copy whole runs
  const ImageLaunch l(device, rows.count, runs ? 1 : w.out_width(), runs ? w.out_width() * w.patch() : w.patch());
  const LibraryKernel& kernel =
      runs ? patches_kernel(device, std::max<int64_t>(w.kernel_w * w.channels, 4), "unfold_vector")
           : patches_kernel(device, 1, "unfold_scalar");
  launcher.run(kernel, l.range,
               PatchesArgs{.grid = l.grid,
                           .images = view(images),
                           .patches = view(patches),
                           .first_row = rows.first,
                           .sides = sides_of(w)},
               {memory(images), memory(patches)});
}

// Calls body(rows) for a few of the rows at a time. Their patches fit into a CPU's cache (measured: 6 MiB) or make a
// product large enough for a GPU.
template <class Body>
void for_some_rows(const mk_device& device, const ops::Window& w, Rows rows, Body&& body) {
  const int64_t bytes = int64_t{device.info.kind == MK_DEVICE_CPU ? 6 : 128} << 20;
  const int64_t each = std::max<int64_t>(bytes / kFloat / w.patch() / w.out_width(), 1);
  const int64_t end = rows.first + rows.count;
  for (int64_t first = rows.first; first < end; first += each) body(Rows{first, std::min(each, end - first)});
}

// Returns the filters of one group as a matrix with one column per filter.
mk_tensor filters_of(const mk_tensor& t, const ops::Window& w, int64_t group) {
  if (t.buffer == nullptr) return t;
  const int64_t each = t.columns / w.groups;
  return sdk::matrix(t.buffer, t.rows, each, t.row_stride, t.offset + group * each);
}

mk_tensor matrix_in(Launcher& launcher, size_t slot, int64_t rows, int64_t columns) {
  return sdk::matrix(&launcher.queue().workspace_buffer(slot, rows * columns), rows, columns);
}

mk_tensor patches_of(Launcher& launcher, const ops::Window& w, Rows rows) {
  return matrix_in(launcher, kPatchesSlot, rows.count * w.out_width(), w.patch());
}

// Multiplies patches. Strict numerics sums in one chain (docs/explained/numbers.md).
void multiply(Launcher& launcher, const mk_op& op) {
  launcher.device().choices.strict() ? gemm_chain(launcher, op) : gemm(launcher, op);
}

// Places the pixels of one phase, which are rows of a matrix, in the images.
void place_pixels(Launcher& launcher, const ConvProblem& p, const Phase& rows, const Phase& columns, Rows some,
                  const mk_tensor& pixels) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const ImageLaunch l(device, some.count, columns.count, w.channels);
  launcher.run(pixels_kernel(device, w.channels, "place_pixels"), l.range,
               PlacePixelsArgs{.grid = l.grid,
                               .images = view(p.images),
                               .pixels = view(pixels),
                               .first_row = some.first,
                               .height = narrow(w.height),
                               .width = narrow(w.width),
                               .channels = narrow(w.channels),
                               .rows = narrow(rows.count),
                               .columns = narrow(columns.count),
                               .first_h = narrow(rows.first),
                               .first_w = narrow(columns.first),
                               .step_h = narrow(w.stride_h),
                               .step_w = narrow(w.stride_w),
                               .reserved = 0},
               {memory(pixels), memory(p.images)});
}

// Adds products of some rows of windows to `to`, or sets it to the first of them if it is `fresh`.
void add_products(Launcher& launcher, const ConvProblem& p, Rows all, const mk_tensor& to, bool fresh) {
  const ops::Window& w = p.window;
  for_some_rows(launcher.device(), w, all, [&](Rows rows) {
    const mk_tensor patches = patches_of(launcher, w, rows);
    const float keep = fresh && rows.first == all.first ? 0.0F : 1.0F;
    for (int64_t g = 0; g < w.groups; ++g) {
      unfold(launcher, p.images, w, rows, g, patches);
      multiply(launcher, ops::gemm(patches, true, filters_of(p.pixels(rows.first, rows.count), w, g), false,
                                   filters_of(to, w, g), 1.0F, keep));
    }
  });
}

}  // namespace

void patches_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, ops::Activation activation) {
  const ops::Window& w = p.window;
  for_dense(p, [&](const ConvProblem& some, int64_t) {
    for_some_rows(launcher.device(), w, {0, some.rows()}, [&](Rows rows) {
      const mk_tensor patches = patches_of(launcher, w, rows), pixels = some.pixels(rows.first, rows.count);
      for (int64_t g = 0; g < w.groups; ++g) {
        unfold(launcher, some.images, w, rows, g, patches);
        multiply(launcher, ops::gemm_bias_act(patches, filters_of(some.weight, w, g), filters_of(bias, w, g),
                                              activation, filters_of(pixels, w, g)));
      }
    });
  });
}

void patches_grad_input(Launcher& launcher, const ConvProblem& p) {
  const ops::Window& w = p.window;
  const Phases phases(w);
  mk_buffer& turned = launcher.queue().workspace_buffer(kSumsSlot, w.patch() * p.out_channels);
  turn_weights(launcher, p, phases, turned.memory.get());
  if (!phases.whole) fill(launcher, ops::fill(p.images, 0.0F));
  int64_t offset = 0;
  for (const auto& phase : phases.all) {
    const Phase &rows = phase.first, &columns = phase.second;
    const ops::Window back = window_of(p, rows, columns);
    const mk_tensor weight = sdk::matrix(&turned, back.patch(), w.channels, 0, offset);
    for_some_rows(launcher.device(), back, {0, p.images.rows * rows.count}, [&](Rows some) {
      const mk_tensor patches = patches_of(launcher, back, some);
      const mk_tensor pixels = matrix_in(launcher, kPlacedSlot, patches.rows, w.channels);
      for (int64_t g = 0; g < w.groups; ++g) {
        unfold_pixels(launcher, p.windows, back, some, g, patches);
        multiply(launcher, ops::gemm(patches, false, filters_of(weight, w, g), false, filters_of(pixels, w, g)));
      }
      place_pixels(launcher, p, rows, columns, some, pixels);
    });
    offset += weight.rows * weight.columns;
  }
}

void patches_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces) {
  if (!launcher.device().choices.strict() || (pieces.count == 1 && pieces.fresh))
    return add_products(launcher, p, {0, p.rows()}, p.weight, pieces.fresh);
  const mk_tensor sums = matrix_in(launcher, kSumsSlot, pieces.count * p.weight.rows, p.weight.columns);
  for (int64_t i = 0; i < pieces.count; ++i) {
    const int64_t first = i * pieces.rows_each;
    const mk_tensor sum =
        sdk::matrix(sums.buffer, p.weight.rows, p.weight.columns, 0, i * p.weight.rows * p.weight.columns);
    add_products(launcher, p, {first, std::min(pieces.rows_each, p.rows() - first)}, sum, true);
  }
  sum_parts(launcher, memory(sums), pieces.count, p.weight, pieces.fresh);
}

}  // namespace mokume::opencl
