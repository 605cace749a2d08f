#include "implicit/implicit.hpp"

#include <algorithm>
#include <functional>

#include "gemm/tile.hpp"
#include "implicit/implicit.embed.hpp"
#include "implicit/implicit_args.h"
#include "units/units.hpp"

namespace mokume::opencl {
namespace {

// A product of implicit.cl.
struct Way {
  enum Name : int64_t { FORWARD = 1, BY_INPUT, BY_WEIGHT } name;  // the macro WAY
  bool a_wide, b_wide;
  int64_t image_step;                  // distance of images of the operand under the windows
  int64_t rows_each;                   // rows of the product per image, or of the terms in BY_WEIGHT
  int64_t stride_h = 0, stride_w = 0;  // only in BY_INPUT
};

std::string macros_of(const Way& way) {
  constexpr const char* kNames[] = {"", "FORWARD", "BY_INPUT", "BY_WEIGHT"};
  std::string macros = std::string(" -DWAY=") + kNames[way.name] + " -DA_WIDE=" + (way.a_wide ? "1" : "0") +
                       " -DB_WIDE=" + (way.b_wide ? "1" : "0");
  if (way.name == Way::BY_INPUT)
    macros += " -DSTRIDE_H=" + std::to_string(way.stride_h) + " -DSTRIDE_W=" + std::to_string(way.stride_w);
  return macros;
}

void convolve(Launcher& launcher, const ConvProblem& c, const Problem& p, const Way& way) {
  mk_device& device = launcher.device();
  const ops::Window& w = c.window;
  sum_product(launcher, p, [&](const Tile& t, const Product& q, const Split& split, const Range& range, cl_mem out) {
    const int64_t images = std::min(t.bm / way.rows_each + 2, c.images.rows);
    const int64_t reach = std::max({images * way.image_step, q.k, q.b.row_step * t.bn, q.b.k_step * t.bk});
    const TileForm form(t, q, reach);
    const std::function<const LibraryKernel&()> make = [&]() -> const LibraryKernel& {
      const std::string macros = form.macros() + unit_macros(device, p, t) + macros_of(way);
      return device.kernel({"implicit/" + macros, kImplicitImplicit, macros}, "convolve");
    };
    const LibraryKernel& kernel =
        tile_kernel(device, form, with_units(device, p),
                    {way.name, (way.a_wide ? 1 : 0) + (way.b_wide ? 2 : 0), way.stride_h, way.stride_w}, make);
    const ImplicitArgs args{.product = q,
                            .split = split,
                            .image_step = way.image_step,
                            .sides = c.sides(),
                            .dilation_h = narrow(w.dilation_h),
                            .dilation_w = narrow(w.dilation_w),
                            .group_channels = narrow(w.group_channels()),
                            .group_filters = narrow(c.out_channels / w.groups)};
    launcher.run(kernel, range, args, {p.a, p.b, p.bias, out}, local_floats(device, p, t));
  });
}

// Returns one product of a group. `a` is the operand under the windows.
Problem product_of(const mk_tensor& a, const mk_tensor& b, const mk_tensor& out) {
  Problem p{};
  p.product.alpha = 1;
  p.a = memory(a);
  p.b = memory(b);
  p.out = memory(out);
  p.bias = p.out;
  p.may_round = true;
  return p;
}

// Returns the terms of a chain. With strict numerics, those are `all` (docs/explained/numbers.md).
int64_t block_of(const mk_device& device, int64_t all) {
  return device.choices.strict() ? std::min(all, kMostTerms) : kBlock;
}

// Calls body(some, first) for all images at once if their rows are contiguous, otherwise image by image.
template <class Body>
void for_images(const ConvProblem& c, bool contiguous, Body&& body) {
  const int64_t each = contiguous ? c.images.rows : 1;
  for (int64_t first = 0; first < c.images.rows; first += each) {
    ConvProblem some = c;
    some.images = sdk::matrix(c.images.buffer, each, c.images.columns, c.images.row_stride,
                              c.images.offset + first * c.images.row_stride);
    some.windows = sdk::matrix(c.windows.buffer, each, c.windows.columns, c.windows.row_stride,
                               c.windows.offset + first * c.windows.row_stride);
    body(some, first);
  }
}

}  // namespace

bool suits_implicit(const mk_device& device) {
  if (device.choices.conv == "implicit" || (device.choices.strict() && device.choices.gemm == "tile")) return true;
  return device.info.kind == MK_DEVICE_GPU && !uses_vectors(device) && device.choices.conv != "patches";
}

void implicit_forward(Launcher& launcher, const ConvProblem& c, const mk_tensor& bias, bool relu) {
  const ops::Window& w = c.window;
  const int64_t channels = w.group_channels(), filters = c.out_channels / w.groups;
  for_images(c, c.dense(), [&](const ConvProblem& some, int64_t) {
    for (int64_t g = 0; g < w.groups; ++g) {
      Problem p = product_of(some.images, c.weight, some.windows);
      Product& q = p.product;
      q.a = {some.images.offset + g * channels, 0, 1};
      q.b = {c.weight.offset + g * filters, 1, c.weight.row_stride};
      q.out = {some.windows.offset + g * filters, c.out_channels, 1};
      q.m = some.images.rows * w.out_pixels();
      q.n = filters;
      q.k = w.patch();
      p.block = block_of(launcher.device(), q.k);
      if (bias.buffer != nullptr) {
        p.bias = memory(bias);
        q.bias_offset = bias.offset + g * filters;
        q.biased = 1;
      }
      q.relu = relu ? RELU : 0;
      const bool wide = whole_vectors(q.a.offset, some.images.row_stride, channels) && w.channels % 4 == 0;
      convolve(
          launcher, some, p,
          {Way::FORWARD, wide, whole_vectors(q.b.offset, q.b.k_step, filters), some.images.row_stride, w.out_pixels()});
    }
  });
}

bool implicit_grad_input(Launcher& launcher, const ConvProblem& c, const mk_tensor* x) {
  const ops::Window& w = c.window;
  const int64_t channels = w.group_channels(), filters = c.out_channels / w.groups;
  const bool contiguous = c.images.rows <= 1 || c.images.row_stride == c.images.columns;
  const bool through_relu = x != nullptr && (c.images.rows <= 1 || x->row_stride == c.images.row_stride) &&
                            (x->offset - c.images.offset) % 4 == 0;
  for_images(c, contiguous, [&](const ConvProblem& some, int64_t first) {
    for (int64_t g = 0; g < w.groups; ++g) {
      Problem p = product_of(some.windows, c.weight, some.images);
      Product& q = p.product;
      q.a = {some.windows.offset + g * filters, 0, 1};
      q.b = {c.weight.offset + g * filters, c.weight.row_stride, 1};
      q.out = {some.images.offset + g * channels, w.channels, 1};
      q.m = some.images.rows * w.height * w.width;
      q.n = channels;
      q.k = w.kernel_h * w.kernel_w * filters;
      p.block = block_of(launcher.device(), q.k);
      if (through_relu) {
        p.bias = memory(*x);
        q.bias_offset = x->offset + first * x->row_stride + g * channels;
        q.relu = RELU_GRAD;
      }
      const bool wide = whole_vectors(q.a.offset, some.windows.row_stride, filters) && c.out_channels % 4 == 0;
      convolve(launcher, some, p,
               {Way::BY_INPUT, wide, whole_vectors(q.b.offset, q.b.row_step, filters), some.windows.row_stride,
                w.height * w.width, w.stride_h, w.stride_w});
    }
  });
  return through_relu;
}

// Fast numerics takes blocks of kBlock windows, which occupy more work-groups than the pieces.
void implicit_grad_weight(Launcher& launcher, const ConvProblem& c, const Pieces& pieces) {
  const ops::Window& w = c.window;
  const int64_t channels = w.group_channels(), filters = c.out_channels / w.groups;
  for (int64_t g = 0; g < w.groups; ++g) {
    Problem p = product_of(c.images, c.windows, c.weight);
    Product& q = p.product;
    q.a = {c.images.offset + g * channels, 0, 1};
    q.b = {c.windows.offset + g * filters, 1, c.out_channels};
    q.out = {c.weight.offset + g * filters, c.weight.row_stride, 1};
    q.m = w.patch();
    q.n = filters;
    q.k = c.images.rows * w.out_pixels();
    q.beta = pieces.fresh ? 0.0F : 1.0F;
    p.block = block_of(launcher.device(), pieces.rows_each * w.out_width());
    const bool wide = whole_vectors(q.a.offset, c.images.row_stride, channels) && w.channels % 4 == 0;
    convolve(
        launcher, c, p,
        {Way::BY_WEIGHT, wide, whole_vectors(q.b.offset, q.b.k_step, filters), c.images.row_stride, w.out_pixels()});
  }
}

}  // namespace mokume::opencl
