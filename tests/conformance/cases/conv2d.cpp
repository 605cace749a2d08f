#include <algorithm>
#include <cmath>
#include <optional>

#include "windows.hpp"

namespace mokume::conformance {
namespace {

struct Convolution {
  std::string name;
  Size size;
  int64_t images;
  ops::Window window;
  int64_t channels;  // number of output channels
  Layout image{}, windows{}, weight{};
};

// Returns `w` with dilation, groups, and more padding after the image than before it.
ops::Window with(ops::Window w, int64_t dilation_h, int64_t dilation_w, int64_t groups, int64_t more_h = 0,
                 int64_t more_w = 0) {
  w.dilation_h = dilation_h;
  w.dilation_w = dilation_w;
  w.groups = groups;
  w.more_h = more_h;
  w.more_w = more_w;
  return w;
}

// Adds cases of dilation, of groups with one and more channels, and of padding of two sizes: with few and many
// channels, with and without whole vectors, and with and without gaps between rows.
void add_kinds(std::vector<Convolution>& list) {
  const Layout x{1, 2}, y{3, 0}, w{2, 1};
  list.push_back({"9x8x2_dilated", Size::tiny, 2, with({9, 8, 2, 3, 3, 1, 1, 2, 0}, 2, 3, 1), 3, x, y, w});
  list.push_back({"11x10x16_dilated_strided", Size::tiny, 1, with({11, 10, 16, 3, 2, 2, 3, 3, 1}, 2, 4, 1), 16});
  list.push_back({"9x9x1_dilated", Size::tiny, 2, with({9, 9, 1, 3, 3, 1, 1, 0, 0}, 2, 2, 1), 4});
  list.push_back({"3x3x2_dilated_mostly_padding", Size::tiny, 2, with({3, 3, 2, 2, 2, 1, 1, 3, 3}, 4, 4, 1), 2});
  list.push_back({"7x6x16_to_16_more_below", Size::tiny, 1, with({7, 6, 16, 3, 3, 1, 1, 0, 1}, 1, 1, 1, 2, -1), 16});
  list.push_back({"8x8x1_to_37_more_right", Size::tiny, 2, with({8, 8, 1, 4, 4, 1, 1, 1, 1}, 1, 1, 1, 1, 1), 37});
  list.push_back({"6x5x3_none_below", Size::tiny, 2, with({6, 5, 3, 3, 2, 2, 1, 2, 1}, 1, 1, 1, -2, -1), 4, x, y, w});
  list.push_back({"6x5x4_2_groups", Size::tiny, 2, with({6, 5, 4, 3, 2, 1, 1, 1, 0}, 1, 1, 2), 6, x, y, w});
  list.push_back({"6x5x4_2_groups_dense", Size::tiny, 3, with({6, 5, 4, 3, 2, 1, 1, 1, 0}, 1, 1, 2), 6});
  list.push_back({"7x7x48_3_groups_dilated", Size::tiny, 1, with({7, 7, 48, 3, 3, 1, 2, 2, 1}, 2, 2, 3), 9});
  list.push_back({"6x6x4_no_filters_in_groups", Size::tiny, 2, with({6, 6, 4, 3, 3, 1, 1, 1, 1}, 1, 1, 2), 0});
  list.push_back({"6x7x5_depthwise", Size::tiny, 3, with({6, 7, 5, 3, 3, 1, 1, 1, 1}, 1, 1, 5), 5, x, y, w});
  list.push_back({"7x6x17_depthwise_strided", Size::tiny, 2, with({7, 6, 17, 3, 4, 2, 2, 1, 2}, 1, 1, 17, 1, -1), 17});
  list.push_back({"8x9x16_depthwise_dilated", Size::tiny, 1, with({8, 9, 16, 3, 3, 1, 1, 2, 3}, 2, 3, 16), 16});
  list.push_back({"5x6x3_depthwise_2_each", Size::tiny, 2, with({5, 6, 3, 3, 3, 2, 1, 1, 1}, 1, 2, 3), 6, x, y, w});
  list.push_back({"6x6x4_depthwise_no_filters", Size::tiny, 2, with({6, 6, 4, 3, 3, 1, 1, 1, 1}, 1, 1, 4), 0});
  list.push_back({"no_images_depthwise", Size::tiny, 0, with({6, 6, 4, 3, 3, 1, 1, 1, 1}, 1, 1, 4), 4});
  list.push_back({"28x27x64_depthwise", Size::normal, 17, with({28, 27, 64, 3, 3, 1, 1, 1, 1}, 1, 1, 64), 64});
  list.push_back({"14x15x130_depthwise_5x5", Size::normal, 9, with({14, 15, 130, 5, 5, 2, 1, 2, 2}, 1, 1, 130), 130});
  list.push_back({"14x14x64_4_groups", Size::normal, 9, with({14, 14, 64, 3, 3, 1, 1, 1, 1}, 1, 1, 4), 96});
  // Groups of whole and partly filled vectors; images and windows of several images in a tile, and rows of windows.
  list.push_back({"9x8x10_2_groups_strided", Size::tiny, 3, with({9, 8, 10, 3, 4, 2, 3, 1, 2}, 1, 1, 2), 10, x, y, w});
  list.push_back({"5x6x24_3_groups", Size::tiny, 14, with({5, 6, 24, 4, 3, 1, 1, 2, 1}, 1, 1, 3), 51, x, y, w});
  list.push_back({"9x31x12_2_groups_gaps", Size::tiny, 2, with({9, 31, 12, 2, 2, 4, 3, 0, 0}, 1, 1, 2), 46, {}, y, w});
  // A tile has the same window of several images. Most of the gradient's windows lie in the padding.
  list.push_back({"6x5x7_many_small_images", Size::tiny, 29, {6, 5, 7, 4, 4, 1, 1, 0, 0}, 37, x, y, w});
  list.push_back({"7x8x5_many_small_images_strided", Size::tiny, 25, {7, 8, 5, 5, 3, 2, 3, 2, 1}, 20, x, y, w});
  // Patches have more terms than a block of a product, and the windows are several pieces of the gradient.
  list.push_back(
      {"24x23x96_2_groups_dilated_strided", Size::normal, 13, with({24, 23, 96, 3, 3, 2, 2, 2, 2}, 3, 2, 2), 10});
  list.push_back({"30x30x16_dilated", Size::normal, 41, with({30, 30, 16, 3, 3, 1, 1, 2, 2}, 2, 2, 1), 16});
}

std::vector<Convolution> convolutions() {
  std::vector<Convolution> list;
  add_kinds(list);
  // These cases combine every window with a few output channels, odd and even.
  for (const WindowCase& w : window_cases())
    list.push_back({w.name, w.size, w.images, w.window, 1 + w.window.width % 5, w.image, w.windows, {1, 2}});
  list.push_back({"4x4x2_no_filters", Size::tiny, 2, {4, 4, 2, 3, 3, 1, 1, 1, 1}, 0});
  // These 3 x 3 windows with whole vectors of channels may take a path of their own. Tiles fit or are cut, with and
  // without padding, and there are more or fewer channels than in a block of the product.
  const auto square = [&](const char* name, Size size, int64_t images, int64_t side, int64_t in, int64_t pad,
                          int64_t out) {
    list.push_back({name, size, images, {side, side, in, 3, 3, 1, 1, pad, pad}, out});
  };
  square("4x4x16_to_16", Size::tiny, 1, 4, 16, 1, 16);
  square("7x7x16_to_16", Size::tiny, 1, 7, 16, 0, 16);
  square("3x3x16_to_32", Size::tiny, 2, 3, 16, 1, 32);
  square("14x14x32_to_48", Size::normal, 3, 14, 32, 1, 48);
  square("26x26x32_to_64", Size::normal, 2, 26, 32, 0, 64);
  square("9x9x128_to_80", Size::normal, 5, 9, 128, 1, 80);
  square("12x12x48_to_144", Size::normal, 3, 12, 48, 2, 144);
  list.push_back(
      {"11x13x64_to_64_strided", Size::normal, 3, {11, 13, 64, 3, 3, 1, 1, 0, 1}, 64, {1, 3}, {2, 5}, {3, 1}});
  // Strided windows and groups whose channels and filters fill vectors. Pixels between two windows see some of the
  // weights only, and the first windows of some of them lie in the padding.
  list.push_back({"9x8x16_3x3_stride_2_pad_2", Size::tiny, 2, {9, 8, 16, 3, 3, 2, 2, 2, 2}, 9, {1, 3}, {2, 5}, {3, 1}});
  list.push_back({"8x11x8_5x4_stride_2_3", Size::tiny, 2, {8, 11, 8, 5, 4, 2, 3, 4, 0}, 17});
  list.push_back({"7x7x17_2x2_stride_2", Size::tiny, 3, {7, 7, 17, 2, 2, 2, 2, 0, 1}, 11});
  list.push_back({"9x9x8_gaps_between_windows", Size::tiny, 2, {9, 9, 8, 2, 2, 3, 3, 0, 0}, 8});
  list.push_back({"6x7x34_2_groups", Size::tiny, 2, with({6, 7, 34, 3, 3, 2, 1, 1, 1}, 1, 1, 2), 18, {2, 1}});
  // These cases have one channel and window lines that fill vectors: less than a register tile, one tile, or more. The
  // channels fill vectors or not, and there are more or fewer pixels than in a block of the product, or whole blocks.
  list.push_back({"9x8x1_5x5_to_37", Size::tiny, 2, {9, 8, 1, 5, 5, 1, 1, 0, 0}, 37, {1, 2}, {3, 0}, {2, 1}});
  list.push_back({"9x8x1_5x5_to_33", Size::tiny, 2, {9, 8, 1, 5, 5, 1, 1, 0, 0}, 33});
  list.push_back({"20x20x1_5x5_to_37", Size::normal, 3, {20, 20, 1, 5, 5, 1, 1, 0, 0}, 37});
  list.push_back({"28x28x1_10x10_to_85", Size::normal, 3, {28, 28, 1, 10, 10, 1, 1, 0, 0}, 85});
  list.push_back({"28x28x1_5x5_to_100", Size::normal, 2, {28, 28, 1, 5, 5, 1, 1, 2, 2}, 100, {0, 3}, {1, 2}, {1, 0}});
  list.push_back({"12x40x1_3x17_to_64", Size::normal, 3, {12, 40, 1, 3, 17, 1, 1, 1, 8}, 64});
  // These cases have one channel and so few output channels that windows, or lines of the window, share a vector. They
  // fill vectors entirely or partly, some lines at a time.
  list.push_back({"9x8x1_5x5_to_13", Size::tiny, 2, {9, 8, 1, 5, 5, 1, 1, 1, 2}, 13, {1, 2}, {3, 0}, {2, 1}});
  list.push_back({"28x28x1_5x5_to_4", Size::normal, 3, {28, 28, 1, 5, 5, 1, 1, 0, 0}, 4});
  list.push_back({"28x28x1_7x7_to_8", Size::normal, 3, {28, 28, 1, 7, 7, 1, 1, 0, 0}, 8, {1, 2}, {3, 1}, {2, 1}});
  // A leftover line of the window shares its pixels with the lines above, on one core.
  list.push_back({"9x8x1_5x5_to_3", Size::tiny, 3, {9, 8, 1, 5, 5, 1, 1, 1, 2}, 3});
  list.push_back({"9x11x1_5x3_to_4", Size::tiny, 2, {9, 11, 1, 5, 3, 1, 1, 0, 0}, 4, {1, 2}, {3, 1}, {2, 1}});
  list.push_back({"11x9x1_9x6_to_4", Size::tiny, 2, {11, 9, 1, 9, 6, 1, 1, 0, 0}, 4});
  list.push_back({"9x10x1_7x7_to_6", Size::tiny, 2, {9, 10, 1, 7, 7, 1, 1, 0, 0}, 6, {}, {1, 0}});
  list.push_back({"9x9x1_3x3_to_7", Size::tiny, 2, {9, 9, 1, 3, 3, 1, 1, 0, 0}, 7});
  list.push_back({"12x40x1_3x17_to_5", Size::normal, 3, {12, 40, 1, 3, 17, 1, 1, 1, 8}, 5});
  list.push_back({"20x20x1_5x9_to_4", Size::normal, 3, {20, 20, 1, 5, 9, 1, 1, 0, 0}, 4});
  list.push_back({"20x20x1_2x12_to_4", Size::normal, 3, {20, 20, 1, 2, 12, 1, 1, 0, 0}, 4});
  list.push_back({"9x8x1_3x3_to_3_many_images", Size::normal, 40, {9, 8, 1, 3, 3, 1, 1, 0, 0}, 3});
  list.push_back({"9x8x1_3x3_to_3_strided", Size::normal, 40, {9, 8, 1, 3, 3, 1, 1, 0, 0}, 3, {1, 2}, {3, 1}, {2, 1}});
  list.push_back({"100x90x1_3x4_to_6", Size::normal, 2, {100, 90, 1, 3, 4, 1, 1, 1, 2}, 6, {}, {0, 5}});
  list.push_back({"30x30x16_many_images", Size::normal, 41, {30, 30, 16, 3, 3, 1, 1, 1, 1}, 16});
  list.push_back({"large_4096x4096_1x2", Size::large, 1, {4096, 4096, 1, 1, 2, 1, 1, 0, 1}, 1});
  return list;
}

Case forward(const Convolution& c, bool biased, ops::Activation activation) {
  const std::string end = std::string(biased ? "_bias" : "") + (activation == ops::Activation::relu ? "_relu" : "");
  return {c.name + end, c.size, [=] {
            Problem p;
            const mk_tensor x = p.random(c.images, c.window.image(), c.image);
            const mk_tensor weight = p.random(c.window.patch(), c.channels, c.weight);
            const mk_tensor bias = biased ? p.random(1, c.channels, {3, 0}) : mk_tensor{};
            const mk_tensor y = p.unwritten(c.images, c.window.out_pixels() * c.channels, c.windows);
            p.op = ops::conv2d(x, weight, bias, c.window, activation, y);
            return p;
          }};
}

Case grad_input(const Convolution& c, const std::optional<Layout>& of_x = {}) {
  return {c.name + (of_x ? "_relu" : ""), c.size, [=] {
            Problem p;
            const mk_tensor dy = p.random(c.images, c.window.out_pixels() * c.channels, c.windows);
            const mk_tensor weight = p.random(c.window.patch(), c.channels, c.weight);
            const mk_tensor x = of_x ? p.random(c.images, c.window.image(), *of_x) : mk_tensor{};
            p.op = ops::conv2d_grad_input(dy, weight, c.window, p.unwritten(c.images, c.window.image(), c.image), x);
            return p;
          }};
}

Case grad_weight(const Convolution& c, bool biased) {
  return {c.name + (biased ? "_bias" : ""), c.size, [=] {
            Problem p;
            const mk_tensor x = p.random(c.images, c.window.image(), c.image);
            const mk_tensor dy = p.random(c.images, c.window.out_pixels() * c.channels, c.windows);
            const mk_tensor dweight = p.unwritten(c.window.patch(), c.channels, c.weight);
            const mk_tensor dbias = biased ? p.unwritten(1, c.channels, {2, 0}) : mk_tensor{};
            p.op = ops::conv2d_grad_weight(x, dy, c.window, dweight, dbias);
            return p;
          }};
}

// Returns, for each element, the largest magnitude within 5 pixels of the same channel.
std::vector<double> around(const std::vector<double>& sums, int64_t images, int64_t height, int64_t width,
                           int64_t channels) {
  constexpr int64_t kReach = 5;
  std::vector<double> across(sums.size()), result(sums.size());
  const auto at = [&](int64_t n, int64_t y, int64_t x, int64_t c) {
    return static_cast<size_t>(((n * height + y) * width + x) * channels + c);
  };
  for (int64_t n = 0; n < images; ++n)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t i = std::max<int64_t>(0, x - kReach); i <= std::min(width - 1, x + kReach); ++i)
            across[at(n, y, x, c)] = std::max(across[at(n, y, x, c)], sums[at(n, y, i, c)]);
  for (int64_t n = 0; n < images; ++n)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t i = std::max<int64_t>(0, y - kReach); i <= std::min(height - 1, y + kReach); ++i)
            result[at(n, y, x, c)] = std::max(result[at(n, y, x, c)], across[at(n, i, x, c)]);
  return result;
}

std::vector<double> scale(const Problem& problem, uint32_t output, const std::vector<Words>& want, Machine& machine) {
  std::vector<double> sums = sum_of_magnitudes(problem, output, want, machine);
  const ops::Window w = ops::window_of(problem.op.conv2d.window);
  const mk_tensor& t = problem.op.outputs[output];
  if (problem.op.code == MK_OP_CONV2D)
    return around(sums, t.rows, w.out_height(), w.out_width(), t.columns / w.out_pixels());
  if (problem.op.code == MK_OP_CONV2D_GRAD_INPUT) return around(sums, t.rows, w.height, w.width, w.channels);
  if (output == 0) std::fill(sums.begin(), sums.end(), *std::max_element(sums.begin(), sums.end()));
  return sums;
}

std::vector<Case> forward_cases() {
  std::vector<Case> list;
  for (const Convolution& c : convolutions()) {
    list.push_back(forward(c, true, ops::Activation::relu));
    if (c.size != Size::large) list.push_back(forward(c, false, ops::Activation::none));
  }
  return list;
}

std::vector<Case> grad_input_cases() {
  std::vector<Case> list;
  for (const Convolution& c : convolutions()) list.push_back(grad_input(c));
  // The output of the relu lies like the gradient in half of the cases.
  for (const Convolution& c : convolutions())
    if (c.size == Size::tiny) list.push_back(grad_input(c, list.size() % 2 == 0 ? c.image : c.windows));
  return list;
}

std::vector<Case> grad_weight_cases() {
  std::vector<Case> list;
  for (const Convolution& c : convolutions()) {
    list.push_back(grad_weight(c, true));
    if (c.size != Size::large) list.push_back(grad_weight(c, false));
  }
  return list;
}

const AddCases kForward{{MK_OP_CONV2D, forward_cases(), scale}};
const AddCases kGradInput{{MK_OP_CONV2D_GRAD_INPUT, grad_input_cases(), scale}};
const AddCases kGradWeight{{MK_OP_CONV2D_GRAD_WEIGHT, grad_weight_cases(), scale}};

}  // namespace
}  // namespace mokume::conformance
