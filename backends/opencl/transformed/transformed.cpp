#include "transformed/transformed.hpp"

#include <algorithm>

#include "conv/minimal_filtering.hpp"
#include "gemm/limits.hpp"
#include "gemm/tile.hpp"
#include "transformed/planes.embed.hpp"
#include "transformed/planes_args.h"
#include "transformed/transforms.embed.hpp"
#include "transformed/transforms_args.h"
#include "units/units.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kGroup = 128;  // work-items of a group of the transforms

// Finishes the outputs. Gradients pass through the relu with the output `passed` if it is not null.
struct Epilogue {
  const mk_tensor* bias;
  bool relu;
  const mk_tensor* passed;
};

const LibraryKernel& transform(mk_device& device, const char* name) {
  return device.kernel(for_width("transforms", kTransformedTransforms, 1), name);
}

Range items(int64_t count) { return {{count, 1, 1}, {kGroup, 1, 1}}; }

cl_mem transformed_weights(Launcher& launcher, const FilteredConvolution& c, const mk_tensor& weight) {
  return launcher.queue().kept(weight, c.back ? "transformed back" : "transformed", kSpace * c.terms * c.lanes,
                               [&](cl_mem to) {
                                 launcher.run(transform(launcher.device(), "spread_weights"), items(c.terms * c.lanes),
                                              SpreadWeightsArgs{.weight = view(weight),
                                                                .terms = narrow(c.terms),
                                                                .lanes = narrow(c.lanes),
                                                                .flip = c.back ? 1 : 0,
                                                                .reserved = 0},
                                              {memory(weight), to});
                               });
}

// Multiplies the pixels (tiles x terms) by the weights (terms x lanes) in each of the 36 planes.
void multiply(Launcher& launcher, cl_mem pixels, cl_mem weights, cl_mem products, int64_t tiles,
              const FilteredConvolution& c) {
  mk_device& device = launcher.device();
  Product q{};
  q.alpha = 1;
  q.m = tiles;
  q.n = c.lanes;
  q.k = c.terms;
  q.a = {0, c.terms, 1};
  q.b = {0, 1, c.lanes};
  q.out = {0, c.lanes, 1};
  const Tile& t = whole_tile(device, kSpace * q.m, q.n, q.k);
  const std::string macros = TileForm(t, q, std::max(c.terms * t.bm, c.lanes * t.bk)).macros() +
                             OperandForm(q.a, q.m, q.k).macros("A") + OperandForm(q.b, q.n, q.k).macros("B");
  const int64_t groups = divide_up(q.m, t.bm) * divide_up(q.n, t.bn);
  const std::array<int64_t, 3> local{t.bn / t.tn, t.bm / t.tm, 1};
  const Split split{.first = 0,
                    .blocks = divide_up(q.k, kBlock),
                    .blocks_each = narrow(divide_up(q.k, kBlock)),
                    .partial = 0,
                    .last = 1,
                    .reserved = 0};
  launcher.run(device.kernel({"planes/" + macros, kTransformedPlanes, macros}, "multiply_planes"),
               {{groups * local[0], local[1], kSpace}, local},
               PlanesArgs{.product = q,
                          .split = split,
                          .a_apart = tiles * c.terms,
                          .b_apart = c.terms * c.lanes,
                          .out_apart = tiles * c.lanes},
               {pixels, weights, products}, local_floats(device, {}, t));
}

mk_tensor images_of(const mk_tensor& t, int64_t first, int64_t count) {
  return sdk::matrix(t.buffer, count, t.columns, t.row_stride, t.offset + first * t.row_stride);
}

// Takes as many images at a time as fit the workspaces, which the networks of a group share.
void convolve(Launcher& launcher, const FilteredConvolution& c, const mk_tensor& weight, const Epilogue& e) {
  mk_device& device = launcher.device();
  const cl_mem weights = transformed_weights(launcher, c, weight);
  const int64_t each = filtered_tiles(c.sides.out_h, c.sides.out_w);
  const MemberSpace* members = launcher.queue().workspaces.members;
  const int64_t room = members == nullptr
                           ? kWorkspaceFloats
                           : static_cast<int64_t>(MemberSpace::kMostBytes / sizeof(float) / members->members);
  const int64_t most = std::max<int64_t>(1, room / (kSpace * each * std::max(c.terms, c.lanes)));
  for (int64_t first = 0; first < c.from.rows; first += most) {
    const int64_t count = std::min(most, c.from.rows - first), tiles = count * each;
    const mk_tensor from = images_of(c.from, first, count), to = images_of(c.to, first, count);
    const cl_mem pixels = launcher.queue().workspace(kScratchSlot, kSpace * tiles * c.terms);
    const cl_mem products = launcher.queue().workspace(kSumsSlot, kSpace * tiles * c.lanes);
    launcher.run(transform(device, "spread_pixels"), items(tiles * c.terms),
                 SpreadPixelsArgs{.images = view(from), .tiles = tiles, .sides = c.sides}, {memory(from), pixels});
    multiply(launcher, pixels, weights, products, tiles, c);
    const OptionalView bias(e.bias != nullptr ? *e.bias : mk_tensor{}, weight);
    const mk_tensor passed = e.passed != nullptr ? images_of(*e.passed, first, count) : to;
    launcher.run(transform(device, "gather_outputs"), items(tiles * c.lanes),
                 GatherOutputsArgs{.out = view(to),
                                   .passed = view(passed),
                                   .tiles = tiles,
                                   .bias_offset = bias.offset,
                                   .sides = c.sides,
                                   .biased = bias.there,
                                   .relu = e.relu ? 1 : 0,
                                   .after_relu = e.passed != nullptr ? 1 : 0,
                                   .reserved = 0},
                 {products, bias.memory, memory(passed), memory(to)});
  }
}

}  // namespace

// Counts multiply-adds and bytes of one image. A card with fast memory multiplies and adds about 7 times in the time in
// which it moves one byte (cards with slower memory lose the race for the choice winograd), and reaches about 0.8 and
// 0.75 of its multiply-adds in the two kinds of products. The transforms take three more launches, so they must save a
// quarter of the time, and the time of kLeast multiply-adds per image.
bool suits_transformed(const mk_device& device, const ConvProblem& p) {
  const ops::Window& w = p.window;
  if (device.choices.strict() || device.info.kind != MK_DEVICE_GPU || uses_vectors(device) || !p.plain() || !has_filtered_window(w) ||
      w.pad_h > 2 || w.pad_w > 2)
    return false;
  const int64_t image = kSpace * filtered_tiles(w.out_height(), w.out_width()) * std::max(w.channels, p.out_channels);
  if (image > kWorkspaceFloats) return false;
  if (device.choices.conv == "winograd_everywhere") return true;
  if (device.choices.conv != "winograd") return false;
  constexpr double kForByte = 7, kDirect = 0.8, kPlanes = 0.75, kGain = 1.3, kLeast = 4e6;
  const auto pairs = static_cast<double>(w.channels * p.out_channels);
  const auto tiles = static_cast<double>(filtered_tiles(w.out_height(), w.out_width()));
  const double direct = 9 * static_cast<double>(w.out_pixels()) * pairs / kDirect;
  const double moved = 4.0 * 2 * kSpace * tiles * static_cast<double>(w.channels + p.out_channels);
  const double transformed = kSpace * tiles * pairs / kPlanes + kForByte * moved;
  return direct > kGain * transformed && direct - transformed > kLeast;
}

void transformed_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu) {
  convolve(launcher, FilteredConvolution::forward(p), p.weight,
           {bias.buffer != nullptr ? &bias : nullptr, relu, nullptr});
}

void transformed_grad_input(Launcher& launcher, const ConvProblem& p, const mk_tensor* x) {
  convolve(launcher, FilteredConvolution::backward(p), p.weight, {nullptr, false, x});
}

}  // namespace mokume::opencl
