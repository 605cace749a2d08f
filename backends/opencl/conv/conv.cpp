// Convolutions, forward and backward, in one of two ways.
//
// "patches", on every device: the patches of some images at a time, and products of them.
// "winograd", for windows of 3 x 3 with stride 1 and whole vectors of channels on CPUs: kernels/winograd.cl.
// Which one is the recorded choice `conv`; sums over images run in pieces of a size that a device class fixes.
#include <algorithm>

#include "conv/column_sums.embed.hpp"
#include "common/common.embed.hpp"
#include "conv/direct.embed.hpp"
#include "conv/direct_grad.embed.hpp"
#include "conv/flat.embed.hpp"
#include "conv/spread.embed.hpp"
#include "gemm/skinny.embed.hpp"
#include "gemm/vector.embed.hpp"
#include "gemm/vector.hpp"
#include "ops.hpp"
#include "sdk/ops.hpp"
#include "common/grid.hpp"
#include "common/transpose.embed.hpp"
#include "common/vector.embed.hpp"
#include "conv/winograd.embed.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kFloat = sizeof(float);
// Slots of the queue's workspaces; the GEMMs have 0 and 1.
constexpr size_t kPatches = 2, kScratch = 2, kTransformed = 3, kSpread = 0;

// A convolution as its three ops see it.
struct Problem {
  ops::Window window;
  mk_tensor images, weight, windows;
  int64_t out_channels;

  Problem(const mk_op& op, const mk_tensor& images_, const mk_tensor& weight_, const mk_tensor& windows_)
      : window(ops::window_of(op)),
        images(images_),
        weight(weight_),
        windows(windows_),
        out_channels(weight_.columns) {}

  // The pixels of all images lie side by side, as rows of one matrix.
  bool dense() const { return windows.rows <= 1 || windows.row_stride == windows.columns; }
};

// The sides as the kernels' ints: check_window() has seen that they fit.
int32_t narrow(int64_t side) { return static_cast<int32_t>(side); }

mk_tensor some_of(const mk_tensor& images, int64_t first, int64_t count) {
  return sdk::matrix(images.buffer, count, images.columns, images.row_stride,
                     images.offset + first * images.row_stride);
}

// ---- patches --------------------------------------------------------------------------------------------------------

// body(first, count) for some images at a time: as many as have their patches in a CPU's cache (measured: 6 MiB; a GPU
// wants one large product), one where those of their rows that the product reads do not lie side by side.
template <class Body>
void by_pieces(const mk_device& device, const Problem& p, Body&& body) {
  const int64_t bytes = int64_t{device.info.kind == MK_DEVICE_CPU ? 6 : 128} << 20;
  const int64_t fit = bytes / kFloat / p.window.patch() / p.window.out_pixels();
  const int64_t each = p.dense() ? std::max<int64_t>(fit, 1) : 1;
  for (int64_t first = 0; first < p.images.rows; first += each) body(first, std::min(each, p.images.rows - first));
}

mk_tensor patches_of(Launcher& launcher, const Problem& p, int64_t images) {
  const int64_t rows = images * p.window.out_pixels();
  mk_buffer& space =
      launcher.queue().workspace_buffer(kPatches, static_cast<uint64_t>(rows * p.window.patch() * kFloat));
  return sdk::matrix(&space, rows, p.window.patch());
}

// One row per pixel of some images that lie side by side.
mk_tensor pixels_of(const Problem& p, int64_t first, int64_t count) {
  const mk_tensor some = some_of(p.windows, first, count);
  return sdk::matrix(some.buffer, count * p.window.out_pixels(), p.out_channels, 0, some.offset);
}

void patches_forward(Launcher& launcher, const Problem& p, const mk_tensor& bias, ops::Activation activation) {
  by_pieces(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count), out = pixels_of(p, first, count);
    unfold(launcher, some_of(p.images, first, count), p.window, patches);
    gemm(launcher, ops::gemm_bias_act(patches, p.weight, bias, activation, out));
  });
}

void patches_grad_input(Launcher& launcher, const Problem& p) {
  by_pieces(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count);
    gemm(launcher, ops::gemm(pixels_of(p, first, count), false, p.weight, true, patches));
    fold(launcher, patches, p.window, some_of(p.images, first, count));
  });
}

void patches_grad_weight(Launcher& launcher, const Problem& p) {
  by_pieces(launcher.device(), p, [&](int64_t first, int64_t count) {
    const mk_tensor patches = patches_of(launcher, p, count);
    unfold(launcher, some_of(p.images, first, count), p.window, patches);
    gemm(launcher,
         ops::gemm(patches, true, pixels_of(p, first, count), false, p.weight, 1.0F, first == 0 ? 0.0F : 1.0F));
  });
}

// ---- winograd -------------------------------------------------------------------------------------------------------

constexpr int64_t kScratchBytes = int64_t{64} << 20;  // of all work-items, unless that is less than one for each core
constexpr int64_t kSpace = 36;                        // elements of a transformed tile: SPACE of winograd.cl
constexpr int64_t kTilesSummed = 512;  // at once, in the gradient of the weights: two blocks of the product

// Of input and output together: keeps transformed weights below 40 MB, the tiles summed at once below 80 MB, and what
// one work-item has below 5 MB. A constant, so that no other figure of a device decides about bits.
constexpr int64_t kMostChannels = 1024;

bool suits_winograd(const mk_device& device, const Problem& p) {
  const ops::Window& w = p.window;
  return device.choices.conv == "winograd" && w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 &&
         w.stride_w == 1 && w.channels % device.vector_width == 0 && p.out_channels % device.vector_width == 0 &&
         w.channels + p.out_channels <= kMostChannels;
}

std::string winograd_source() { return std::string(k_common_common) + k_common_vector + k_common_transpose + k_gemm_vector + k_conv_winograd; }

// `block`: channels side by side, KC of winograd.cl.
cl_kernel winograd_kernel(mk_device& device, const char* name, int64_t block) {
  const std::string width = std::to_string(device.vector_width), kc = std::to_string(block);
  return device.kernel({"winograd/" + width + "/" + kc, winograd_source, vector_options(device) + " -DKC=" + kc}, name);
}

int64_t channel_block(int64_t channels) {
  int64_t block = 64;
  while (channels % block != 0) block /= 2;
  return block;
}

int64_t tiles_of(int64_t out_h, int64_t out_w) { return divide_up(out_h, 4) * divide_up(out_w, 4); }

// Which way the images go through the window.
enum class Direction { forward, back };

// y = x convolved with the weights (forward), or dx = dy convolved with the turned weights, where the images have the
// shape of the windows, and padding makes up what the window takes away.
void winograd_convolve(Launcher& launcher, const Problem& p, Direction direction, const mk_tensor& bias, bool relu) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const bool back = direction == Direction::back;
  const mk_tensor &from = back ? p.windows : p.images, &to = back ? p.images : p.windows;
  const int64_t terms = back ? p.out_channels : w.channels, lanes = back ? w.channels : p.out_channels;
  const int64_t width = device.vector_width, panel = 2 * width, tiles_at_once = 2 * VectorSizes(device.vector_width).mr;
  const int64_t block = channel_block(terms), panels = divide_up(lanes, panel);
  const cl_mem weights = launcher.queue().kept(
      p.weight, back ? "winograd back" : "winograd", static_cast<uint64_t>(kSpace * panels * panel * terms * kFloat),
      [&](cl_mem transformed) {
        launcher.run(winograd_kernel(device, "winograd_weights", block), {panels * 2, terms, 1}, {1, 1, 1},
                     memory(p.weight), p.weight.offset, p.weight.row_stride, static_cast<int32_t>(terms),
                     static_cast<int32_t>(lanes), static_cast<int32_t>(back), transformed);
      });

  const int64_t out_h = back ? w.height : w.out_height(), out_w = back ? w.width : w.out_width();
  const int64_t all = tiles_of(out_h, out_w) * to.rows;
  // Few tiles: the cores share the output channels, so that each reads its part of the weights alone.
  const int64_t cores = device.cores;
  const bool few = all <= tiles_at_once;
  const int64_t panels_each = few ? divide_up(panels, cores) : panels, groups = divide_up(panels, panels_each);
  const int64_t scratch_each = kSpace * tiles_at_once * (terms + panel);
  const int64_t most_items = std::min(8 * cores, std::max(cores, kScratchBytes / kFloat / scratch_each));
  const int64_t items = few ? 1 : std::clamp<int64_t>(all / tiles_at_once, std::min(cores, all), most_items);
  const int64_t even = divide_up(all, items),
                each = even > tiles_at_once ? round_up(even, VectorSizes(device.vector_width).mr) : even;
  const int64_t parts = divide_up(all, each);
  const cl_mem scratch =
      launcher.queue().workspace(kScratch, static_cast<uint64_t>(parts * groups * scratch_each * kFloat));
  launcher.run(winograd_kernel(device, "winograd_conv2d", block), {parts, groups, 1}, {1, 1, 1},
               narrow(back ? w.out_height() : w.height), narrow(back ? w.out_width() : w.width), narrow(terms),
               narrow(back ? 2 - w.pad_h : w.pad_h), narrow(back ? 2 - w.pad_w : w.pad_w), narrow(out_h), narrow(out_w),
               narrow(lanes), memory(from), from.offset, from.row_stride, weights,
               bias.buffer != nullptr ? memory(bias) : weights, bias.offset,
               static_cast<int32_t>(bias.buffer != nullptr), static_cast<int32_t>(relu), memory(to), to.offset,
               to.row_stride, scratch, all, each, narrow(panels_each));
}

void winograd_grad_weight(Launcher& launcher, const Problem& p) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t width = device.vector_width, channels = w.channels, out_channels = p.out_channels;
  const auto kernel = [&](const char* name) { return winograd_kernel(device, name, channel_block(channels)); };
  const int64_t tiles = tiles_of(w.out_height(), w.out_width()) * p.images.rows;
  const int64_t most = std::min(kTilesSummed, tiles);
  // The product reads whole registers, some of them beyond the last channel.
  const int64_t grads_at = kSpace * most * channels, slack = 2 * width;
  const cl_mem spread = launcher.queue().workspace(
      kScratch, static_cast<uint64_t>((grads_at + kSpace * most * out_channels + slack) * kFloat));
  const cl_mem sums =
      launcher.queue().workspace(kTransformed, static_cast<uint64_t>(kSpace * channels * out_channels * kFloat));
  const int64_t rows_each = 3, parts = divide_up(channels, rows_each * VectorSizes(device.vector_width).mr);
  for (int64_t first = 0; first < tiles; first += most) {
    const int64_t count = std::min(most, tiles - first);
    launcher.run(kernel("winograd_spread"), {count, 1, 1}, {1, 1, 1}, narrow(w.height), narrow(w.width),
                 narrow(channels), narrow(w.pad_h), narrow(w.pad_w), narrow(w.out_height()), narrow(w.out_width()),
                 narrow(out_channels), memory(p.images), p.images.offset, p.images.row_stride, memory(p.windows),
                 p.windows.offset, p.windows.row_stride, spread, grads_at, first, most);
    launcher.run(kernel("winograd_sum"), {parts, kSpace, 1}, {1, 1, 1}, narrow(channels), narrow(out_channels), spread,
                 grads_at, sums, narrow(count), most, narrow(rows_each), narrow(first == 0 ? 1 : 0));
  }
  launcher.run(kernel("winograd_weight_grads"), {out_channels / width, channels, 1}, {1, 1, 1}, narrow(channels),
               narrow(out_channels), sums, memory(p.weight), p.weight.offset, p.weight.row_stride);
}

// ---- direct ---------------------------------------------------------------------------------------------------------

// One channel, as the first layer of networks for grey images has it: patches would be most of the memory traffic. It
// gives the bits of "patches".
bool suits_direct(const mk_device& device, const Problem& p) {
  const ops::Window& w = p.window;
  return wide(device) && device.choices.gemm == "vector" && w.channels == 1 && w.stride_h == 1 && w.stride_w == 1 &&
         w.patch() <= 256 && w.width <= 4096 && p.out_channels <= 4096;
}

constexpr int64_t kLinesAtOnce = 32;  // LINES of conv_direct.cl

std::string direct_source() {
  return std::string(k_common_common) + k_common_vector + k_common_transpose + k_gemm_vector + k_gemm_skinny + k_conv_direct +
         k_conv_direct_grad + k_conv_flat;
}

cl_kernel direct_kernel(mk_device& device, const char* name) {
  return device.kernel({"conv_direct/" + std::to_string(device.vector_width), direct_source,
                        vector_options(device) + " -DLINES=" + std::to_string(kLinesAtOnce)},
                       name);
}

// So few channels that a vector has room for several lines of the window, for gradients: kernels/conv_spread.cl.
struct Spread {
  Spread(const mk_device& device, int64_t channels)
      : width(device.vector_width), each(channels <= 4 ? 4 : 8), groups(width / each) {}
  // Only images of which a whole one, GROUPS of its lines abreast, lies in a near cache.
  bool suits(const Problem& p) const {
    constexpr int64_t kMostPixels = int64_t{1} << 14;
    const ops::Window& w = p.window;
    return p.out_channels <= each && groups >= 2 && (w.height + 2 * w.pad_h) * (w.width + 2 * w.pad_w) <= kMostPixels;
  }

  int64_t width, each, groups;  // lanes, those of a line, lines
};

std::string spread_source() { return direct_source() + k_conv_spread; }

cl_kernel spread_kernel(mk_device& device, const Spread& s, const char* name) {
  const std::string each = std::to_string(s.each);
  return device.kernel({"conv_spread/" + std::to_string(s.width) + "/" + each, spread_source,
                        vector_options(device) + " -DLINES=" + std::to_string(kLinesAtOnce) + " -DEACH=" + each},
                       name);
}

// A vector has neighbouring windows instead of channels: kernels/conv_flat.cl.
void flat_forward(Launcher& launcher, const Problem& p, const mk_tensor& bias, bool relu) {
  mk_device& device = launcher.device();
  constexpr int64_t kMostWindows = 2048;  // at once: they stay in a near cache
  const ops::Window& w = p.window;
  const int64_t rows = p.images.rows * w.out_height();
  const int64_t items = std::min<int64_t>(rows, (p.images.rows > 16 ? 8 : 1) * device.cores);
  const int64_t rows_each = divide_up(rows, items), line = w.width + 2 * w.pad_w;
  const int64_t at_once = std::min({rows_each, w.out_height(), std::max(kMostWindows / line, w.kernel_h)});
  const int64_t vectors = (device.vector_width == 16 ? 4 : 2) * device.vector_width;  // FLAT_VECTORS of them
  const int64_t most = round_up(at_once * line, vectors), apart = round_up(p.out_channels, 4);
  const int64_t floats = (w.patch() + 1 + most) * apart + (at_once + w.kernel_h - 1) * line + device.vector_width;
  const int64_t scratch_each = round_up(floats, device.vector_width);
  const cl_mem scratch = launcher.queue().workspace(kScratch, static_cast<uint64_t>(items * scratch_each * kFloat));
  const mk_tensor& given_bias = bias.buffer != nullptr ? bias : p.weight;
  launcher.run(direct_kernel(device, "conv2d_flat"), {divide_up(rows, rows_each), 1, 1}, {1, 1, 1}, narrow(w.height),
               narrow(w.width), narrow(w.kernel_h), narrow(w.kernel_w), narrow(w.pad_h), narrow(w.pad_w),
               narrow(w.out_height()), narrow(w.out_width()), narrow(p.out_channels), memory(p.images), p.images.offset,
               p.images.row_stride, memory(p.weight), p.weight.offset, p.weight.row_stride, memory(given_bias),
               given_bias.offset, static_cast<int32_t>(bias.buffer != nullptr), static_cast<int32_t>(relu),
               memory(p.windows), p.windows.offset, p.windows.row_stride, scratch, scratch_each, narrow(most),
               narrow(at_once), rows, rows_each);
}

// The compiler must not know that neighbours are this far apart: see conv_direct.cl.
constexpr int32_t kNext = 1;

void direct_forward(Launcher& launcher, const Problem& p, const mk_tensor& bias, bool relu) {
  mk_device& device = launcher.device();
  if (p.out_channels <= device.vector_width) return flat_forward(launcher, p, bias, relu);
  const ops::Window& w = p.window;
  const int64_t rows = p.images.rows * w.out_height();
  const int64_t items = std::min<int64_t>(rows, (p.images.rows > 16 ? 8 : 1) * device.cores);
  const int64_t rows_each = divide_up(rows, items);
  const int64_t lines = std::min({rows_each, w.out_height(), kLinesAtOnce}) + w.kernel_h - 1;
  const int64_t scratch_each = round_up(round_up(p.out_channels, 2 * device.vector_width) * (w.patch() + 1) +
                                            lines * (w.width + 2 * w.pad_w) + VectorSizes(device.vector_width).mr,
                                        device.vector_width);
  const cl_mem scratch = launcher.queue().workspace(kScratch, static_cast<uint64_t>(items * scratch_each * kFloat));
  const mk_tensor& given_bias = bias.buffer != nullptr ? bias : p.weight;
  launcher.run(direct_kernel(device, "conv2d_direct"), {divide_up(rows, rows_each), 1, 1}, {1, 1, 1}, narrow(w.height),
               narrow(w.width), narrow(w.kernel_h), narrow(w.kernel_w), narrow(w.pad_h), narrow(w.pad_w),
               narrow(w.out_height()), narrow(w.out_width()), narrow(p.out_channels), memory(p.images), p.images.offset,
               p.images.row_stride, memory(p.weight), p.weight.offset, p.weight.row_stride, memory(given_bias),
               given_bias.offset, static_cast<int32_t>(bias.buffer != nullptr), static_cast<int32_t>(relu),
               memory(p.windows), p.windows.offset, p.windows.row_stride, scratch, scratch_each, rows, rows_each,
               kNext);
}

// Lines of the window fill a register tile, unless there are so few channels that products would be worse still. Blocks
// of the sums run over all images, those of "patches" over some at a time.
bool suits_direct_grad(const mk_device& device, const Problem& p) {
  constexpr int64_t kMostPadded = int64_t{128} << 20,
                    kFewChannels = 32;  // the same on every device: they decide about bits
  const ops::Window& w = p.window;
  const int64_t padded = p.images.rows * (w.height + 2 * w.pad_h) * (w.width + 2 * w.pad_w) * kFloat;
  const int64_t gradients = p.images.rows * w.out_pixels() * p.out_channels * kFloat;
  if (!suits_direct(device, p) || padded > kMostPadded) return false;
  return p.out_channels >= kFewChannels ? w.kernel_w >= 5 : w.kernel_w >= 2 && gradients <= kMostPadded;
}

// The rows of `from` as images with their padding, one behind the other.
void copy_padded(Launcher& launcher, const mk_tensor& from, int64_t height, int64_t width, int64_t pad_h, int64_t pad_w,
                 cl_mem to) {
  launcher.run(direct_kernel(launcher.device(), "pad_images"), {from.rows, 1, 1}, {1, 1, 1}, narrow(height),
               narrow(width), narrow(pad_h), narrow(pad_w), memory(from), from.offset, from.row_stride, to);
}

// dy as the kernels read it: whole vectors, `reach` floats, from the first channel of each pixel on. Where there are
// fewer channels, a copy, which has something behind the last pixel.
mk_tensor readable_gradients(Launcher& launcher, const Problem& p, int64_t reach) {
  if (p.out_channels >= reach) return p.windows;
  const mk_tensor& dy = p.windows;
  mk_buffer& copy =
      launcher.queue().workspace_buffer(kTransformed, static_cast<uint64_t>((dy.rows * dy.columns + reach) * kFloat));
  copy_padded(launcher, dy, 1, dy.columns, 0, 0, copy.memory.get());
  return sdk::matrix(&copy, dy.rows, dy.columns);
}

void spread_grad_weight(Launcher& launcher, const Problem& p, const mk_tensor& dbias, const Spread& spread) {
  mk_device& device = launcher.device();
  const ops::Window& w = p.window;
  const int64_t lines = w.height + 2 * w.pad_h, line = w.width + 2 * w.pad_w, width = device.vector_width;
  const int64_t mr = VectorSizes(width).mr, ring = kBlock / w.out_pixels() + 2;
  const int64_t bands = divide_up(w.kernel_h, spread.groups), each = divide_up(bands, std::min(bands, device.cores));
  const int64_t padded = round_up((lines + spread.groups - 1) * line + width, width);
  const int64_t place = padded + round_up((lines * line + std::max(mr, width)) * spread.groups, width);
  const int64_t scratch_each = ring * place + each * w.kernel_w * width, items = divide_up(bands, each);
  const cl_mem scratch = launcher.queue().workspace(kSpread, static_cast<uint64_t>(items * scratch_each * kFloat));
  const mk_tensor dy = readable_gradients(launcher, p, spread.each);
  const mk_tensor& given_bias = dbias.buffer != nullptr ? dbias : p.weight;
  launcher.run(spread_kernel(device, spread, "conv2d_spread_grad"), {items, 1, 1}, {1, 1, 1}, narrow(w.height),
               narrow(w.width), narrow(w.kernel_h), narrow(w.kernel_w), narrow(w.pad_h), narrow(w.pad_w),
               narrow(w.out_width()), narrow(w.out_pixels()), narrow(p.out_channels), memory(p.images), p.images.offset,
               p.images.row_stride, memory(dy), dy.offset, dy.row_stride, memory(p.weight), p.weight.offset,
               p.weight.row_stride, memory(given_bias), given_bias.offset,
               static_cast<int32_t>(dbias.buffer != nullptr), p.images.rows * w.out_pixels(), narrow(each),
               narrow(ring), place, padded, scratch, scratch_each, kNext);
}

// dbias: {} where it is not wanted; images lie side by side otherwise.
void direct_grad_weight(Launcher& launcher, const Problem& p, const mk_tensor& dbias) {
  mk_device& device = launcher.device();
  const Spread spread(device, p.out_channels);
  if (spread.suits(p)) return spread_grad_weight(launcher, p, dbias, spread);
  const ops::Window& w = p.window;
  const int64_t lines = w.height + 2 * w.pad_h, line = w.width + 2 * w.pad_w;
  // The registers of a tile reach beyond the window's last line.
  const int64_t slack = VectorSizes(device.vector_width).mr;
  const cl_mem padded =
      launcher.queue().workspace(kScratch, static_cast<uint64_t>((p.images.rows * lines * line + slack) * kFloat));
  copy_padded(launcher, p.images, w.height, w.width, w.pad_h, w.pad_w, padded);
  const int64_t strip = 2 * device.vector_width, strips = divide_up(p.out_channels, strip);
  const mk_tensor dy = readable_gradients(launcher, p, strip);
  const mk_tensor& given_bias = dbias.buffer != nullptr ? dbias : p.weight;
  const int64_t parts = std::min<int64_t>(w.kernel_h, divide_up(16 * device.cores, strips));
  const int64_t lines_each = divide_up(w.kernel_h, parts);
  launcher.run(direct_kernel(device, "conv2d_direct_grad"), {strips, divide_up(w.kernel_h, lines_each), 1}, {1, 1, 1},
               padded, narrow(lines), narrow(line), narrow(w.kernel_h), narrow(w.kernel_w), narrow(w.out_width()),
               narrow(w.out_pixels()), narrow(p.out_channels), memory(dy), dy.offset, dy.row_stride, memory(p.weight),
               p.weight.offset, p.weight.row_stride, memory(given_bias), given_bias.offset,
               static_cast<int32_t>(dbias.buffer != nullptr), p.images.rows * w.out_pixels(), narrow(lines_each),
               kNext);
}

// ---- the gradient of the bias ---------------------------------------------------------------------------------------

std::string sums_source() { return std::string(k_common_common) + k_common_vector + k_conv_column_sums; }

void column_sums(Launcher& launcher, const mk_tensor& x, const mk_tensor& out, bool first) {
  constexpr int64_t kRowsEach = 512;
  mk_device& device = launcher.device();
  const int width = channel_width(device, x.columns);
  const int64_t blocks = divide_up(x.rows, kRowsEach), local = wide(device) ? 1 : 64;
  const cl_mem part = launcher.queue().workspace(kPatches, static_cast<uint64_t>(blocks * x.columns * kFloat));
  const auto kernel = [&](const char* name) {
    return device.kernel(for_width(device, "sums", sums_source, width), name);
  };
  launcher.run(kernel("column_sums"), {blocks, divide_up(x.columns, width), 1}, {1, local, 1}, memory(x), x.offset,
               x.row_stride, x.rows, static_cast<int32_t>(x.columns), kRowsEach, part);
  launcher.run(kernel("sum_blocks"), {x.columns, 1, 1}, {local, 1, 1}, part, blocks, static_cast<int32_t>(x.columns),
               memory(out), out.offset, static_cast<int32_t>(first));
}

}  // namespace

void conv2d(Launcher& launcher, const mk_op& op) {
  const Problem p(op, op.inputs[0], op.inputs[1], op.outputs[0]);
  if (sdk::empty(op.outputs[0])) return;
  const mk_tensor bias = op.n_inputs == 3 ? op.inputs[2] : mk_tensor{};
  const auto activation = static_cast<ops::Activation>(op.integers[9]);
  if (suits_winograd(launcher.device(), p))
    return winograd_convolve(launcher, p, Direction::forward, bias, activation == ops::Activation::relu);
  if (suits_direct(launcher.device(), p)) return direct_forward(launcher, p, bias, activation == ops::Activation::relu);
  patches_forward(launcher, p, bias, activation);
}

void conv2d_grad_input(Launcher& launcher, const mk_op& op) {
  const Problem p(op, op.outputs[0], op.inputs[1], op.inputs[0]);
  const mk_tensor& dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  if (p.out_channels == 0) return fill(launcher, ops::fill(dx, 0.0F));
  if (suits_winograd(launcher.device(), p)) return winograd_convolve(launcher, p, Direction::back, {}, false);
  patches_grad_input(launcher, p);
}

void conv2d_grad_weight(Launcher& launcher, const mk_op& op) {
  const Problem p(op, op.inputs[0], op.outputs[0], op.inputs[1]);
  const mk_tensor& dweight = op.outputs[0];
  if (sdk::empty(dweight)) return;
  const mk_tensor dbias = op.n_outputs == 2 ? op.outputs[1] : mk_tensor{};
  if (p.images.rows == 0) {
    fill(launcher, ops::fill(dweight, 0.0F));
    if (dbias.buffer != nullptr) fill(launcher, ops::fill(dbias, 0.0F));
    return;
  }
  if (suits_winograd(launcher.device(), p))
    winograd_grad_weight(launcher, p);
  else if (suits_direct_grad(launcher.device(), p))
    direct_grad_weight(launcher, p, p.dense() ? dbias : mk_tensor{});
  else
    patches_grad_weight(launcher, p);
  if (dbias.buffer == nullptr || (suits_direct_grad(launcher.device(), p) && p.dense())) return;
  // All pixels at once where images lie side by side, else image by image.
  const int64_t each = p.dense() ? p.windows.rows : 1;
  for (int64_t first = 0; first < p.windows.rows; first += each)
    column_sums(launcher, pixels_of(p, first, each), dbias, first == 0);
}

}  // namespace mokume::opencl
