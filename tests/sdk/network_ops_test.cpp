// Tests errors of the ops for networks, without a device.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sdk/ops.hpp"

namespace mokume::ops::network_test {
namespace {

mk_tensor m(int64_t rows, int64_t columns, mk_dtype dtype = MK_F32) {
  return sdk::matrix(reinterpret_cast<mk_buffer*>(64), rows, columns, 0, 0, dtype);
}
mk_tensor v(int64_t size, mk_dtype dtype = MK_F32) { return m(1, size, dtype); }

void expect_refused(const mk_op& op, const std::string& part) {
  try {
    check(op);
    ADD_FAILURE() << "accepted; expected a refusal with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

template <class Change>
Window changed(Window w, Change&& change) {
  change(w);
  return w;
}

const Window kWindow{6, 7, 3, 2, 3, 2, 1, 1, 0};  // has 4 x 5 windows

TEST(WindowTest, CountsItsPixels) {
  EXPECT_EQ(kWindow.out_height(), 4);
  EXPECT_EQ(kWindow.out_width(), 5);
  EXPECT_EQ(kWindow.image(), 126);
  EXPECT_EQ(kWindow.patch(), 18);
  const Window remainder{5, 8, 1, 2, 3, 2, 2, 0, 0};
  EXPECT_EQ(remainder.out_height(), 2);
  EXPECT_EQ(remainder.out_width(), 3);
}

TEST(WindowTest, RefusesAWindowThatFitsNoImage) {
  const auto refused = [](const char* part, auto&& change) {
    const Window w = changed(kWindow, change);
    expect_refused(conv2d(m(2, 126), m(18, 4), {}, w, Activation::none, m(2, 80)), part);
    expect_refused(conv2d_grad_input(m(2, 80), m(18, 4), w, m(2, 126)), part);
    expect_refused(conv2d_grad_weight(m(2, 126), m(2, 80), w, m(18, 4), {}), part);
    expect_refused(max_pool(m(2, 126), w, m(2, 60), m(2, 60, MK_I32)), part);
    expect_refused(max_pool_grad(m(2, 60), m(2, 60, MK_I32), w, m(2, 126)), part);
  };
  for (int64_t Window::*side :
       {&Window::height, &Window::width, &Window::channels, &Window::kernel_h, &Window::kernel_w, &Window::stride_h,
        &Window::stride_w, &Window::dilation_h, &Window::dilation_w, &Window::groups})
    for (const int64_t value : {int64_t{0}, int64_t{-1}, kMaxSide + 1, INT64_MAX, INT64_MIN})
      refused("a side", [&](Window& w) { w.*side = value; });
  refused("padding", [](Window& w) { w.pad_h = 2; });
  refused("padding", [](Window& w) { w.pad_w = 3; });
  refused("padding", [](Window& w) { w.pad_h = -1; });
  refused("larger than the padded image", [](Window& w) { w.kernel_h = 9; });
  refused("larger than the padded image", [](Window& w) { w.kernel_w = 8; });
  refused("larger than the padded image", [](Window& w) { w.dilation_w = 4; });
  refused("wider than 2^20", [](Window& w) { w.dilation_h = kMaxSide; });
  refused("after the image", [](Window& w) { w.more_h = -2; });
  refused("after the image", [](Window& w) { w.more_w = INT64_MAX; });
  refused("in the padding", [](Window& w) { w.more_w = 4; });
  refused("do not divide the channels", [](Window& w) { w.groups = 2; });
}

TEST(WindowTest, CountsPixelsThatAreApartInGroupsAndWithMorePadding) {
  const Window w{6, 7, 4, 2, 3, 2, 1, 1, 0, 3, 2, 1, 0, 2};
  EXPECT_EQ(w.extent_h(), 4);
  EXPECT_EQ(w.extent_w(), 5);
  EXPECT_EQ(w.out_height(), 3);  // rows -1 to 7 have 6 positions for 4 rows; every other position counts
  EXPECT_EQ(w.out_width(), 3);
  EXPECT_EQ(w.patch(), 12);
  EXPECT_NO_THROW(check(conv2d(m(2, 168), m(12, 6), {}, w, Activation::none, m(2, 54))));
  expect_refused(conv2d(m(2, 168), m(12, 5), {}, w, Activation::none, m(2, 45)),
                 "do not divide the channels of the output");
  expect_refused(conv2d(m(2, 168), m(24, 6), {}, w, Activation::none, m(2, 54)), "weight is 24x6, expected 12x6");
  expect_refused(max_pool(m(2, 168), w, m(2, 36), m(2, 36, MK_I32)), "no dilation and no groups");
}

TEST(Convolution, ChecksShapes) {
  const auto forward = [](const mk_tensor& x, const mk_tensor& weight, const mk_tensor& bias, const mk_tensor& y) {
    return conv2d(x, weight, bias, kWindow, Activation::relu, y);
  };
  EXPECT_NO_THROW(check(forward(m(2, 126), m(18, 4), m(1, 4), m(2, 80))));
  EXPECT_NO_THROW(check(forward(m(0, 126), m(18, 4), {}, m(0, 80))));
  expect_refused(forward(m(2, 125), m(18, 4), {}, m(2, 80)), "conv2d: images is 2x125, expected 2x126");
  expect_refused(forward(m(2, 126), m(17, 4), {}, m(2, 80)), "conv2d: weight is 17x4, expected 18x4");
  expect_refused(forward(m(2, 126), m(18, 4), {}, m(3, 80)), "conv2d: windows is 3x80, expected 2x80");
  expect_refused(forward(m(2, 126), m(18, 4), m(1, 5), m(2, 80)), "conv2d: bias is 1x5, expected 1x4");
  expect_refused(forward(m(2, 126, MK_I32), m(18, 4), {}, m(2, 80)), "element type");
  expect_refused(forward(m(-2, 126), m(18, 4), {}, m(-2, 80)), "negative size");
  mk_op op = forward(m(2, 126), m(18, 4), {}, m(2, 80));
  op.conv2d.activation = static_cast<Activation>(7);
  expect_refused(op, "conv2d: unknown activation 7");
}

TEST(Convolution, ChecksShapesOfItsGradients) {
  EXPECT_NO_THROW(check(conv2d_grad_input(m(2, 80), m(18, 4), kWindow, m(2, 126))));
  EXPECT_NO_THROW(check(conv2d_grad_input(m(2, 80), m(18, 4), kWindow, m(2, 126), m(2, 126))));
  expect_refused(conv2d_grad_input(m(2, 80), m(18, 4), kWindow, m(2, 126), m(2, 125)), "conv2d_grad_input: x is 2x125");
  expect_refused(conv2d_grad_input(m(2, 81), m(18, 4), kWindow, m(2, 126)), "conv2d_grad_input: windows is 2x81");
  expect_refused(conv2d_grad_input(m(2, 80), m(18, 4), kWindow, m(2, 120)), "conv2d_grad_input: images is 2x120");
  EXPECT_NO_THROW(check(conv2d_grad_weight(m(2, 126), m(2, 80), kWindow, m(18, 4), {})));
  expect_refused(conv2d_grad_weight(m(2, 126), m(1, 80), kWindow, m(18, 4), {}), "conv2d_grad_weight: windows is 1x80");
  expect_refused(conv2d_grad_weight(m(2, 126), m(2, 80), kWindow, m(18, 4), m(2, 4)),
                 "conv2d_grad_weight: dbias is 2x4");
}

// One pixel has 2^40 windows, and their number times the number of images exceeds 64 bits.
TEST(Convolution, CountsWindowsWithoutOverflow) {
  const Window w{1, 1, 1, kMaxSide, kMaxSide, 1, 1, kMaxSide - 1, kMaxSide - 1};
  expect_refused(conv2d(m(int64_t{1} << 47, 1), m(w.patch(), 1), {}, w, Activation::none, m(0, 1)), "too many windows");
}

TEST(MaxPool, ChecksShapes) {
  EXPECT_NO_THROW(check(max_pool(m(2, 126), kWindow, m(2, 60), m(2, 60, MK_I32))));
  expect_refused(max_pool(m(2, 126), kWindow, m(2, 60), m(2, 60)), "place has the wrong element type");
  expect_refused(max_pool(m(2, 126), kWindow, m(2, 60), m(2, 59, MK_I32)), "place is 2x59");
  expect_refused(max_pool(m(2, 126), kWindow, m(3, 60), m(2, 60, MK_I32)), "out is 3x60");
  EXPECT_NO_THROW(check(max_pool_grad(m(2, 60), m(2, 60, MK_I32), kWindow, m(2, 126))));
  EXPECT_NO_THROW(check(max_pool_grad(m(2, 60), m(2, 60, MK_I32), kWindow, m(2, 126), m(2, 126))));
  expect_refused(max_pool_grad(m(2, 60), m(2, 60, MK_I32), kWindow, m(2, 126), m(1, 126)), "max_pool_grad: x is 1x126");
  expect_refused(max_pool_grad(m(2, 60), m(2, 60), kWindow, m(2, 126)), "place has the wrong element type");
  expect_refused(max_pool_grad(m(2, 60), m(2, 60, MK_I32), kWindow, m(2, 60)), "dx is 2x60");
}

TEST(MaxPool, RefusesPlacesBeyond32Bits) {
  const Window w{1, 1, 1, 1 << 16, 1 << 15, 1, 1, (1 << 16) - 1, (1 << 15) - 1};
  const int64_t out = w.out_pixels();
  expect_refused(max_pool(m(1, 1), w, m(1, out), m(1, out, MK_I32)), "2^31");
  expect_refused(max_pool_grad(m(1, out), m(1, out, MK_I32), w, m(1, 1)), "2^31");
}

TEST(AugmentTest, ChecksShapesAndAttributes) {
  const Augment good{5, 7, 3, 2, 4, 0.5, 1, 30, 0.1, 0.2, 0.3, 0.4};
  const auto made = [](const Augment& a, const AugmentPlace& place = {}) {
    return augment(m(4, 105), m(1, 9, MK_I32), a, place, m(9, 105));
  };
  EXPECT_NO_THROW(check(made(good)));
  expect_refused(augment(m(4, 104), m(1, 9, MK_I32), good, {}, m(9, 105)), "augment: x is 4x104");
  expect_refused(augment(m(4, 105), m(1, 8, MK_I32), good, {}, m(9, 105)), "index is 1x8");
  expect_refused(augment(m(4, 105), m(1, 9), good, {}, m(9, 105)), "element type");
  const auto refused = [&](const char* part, auto&& change) {
    Augment broken = good;
    change(broken);
    expect_refused(made(broken), part);
  };
  refused("a side of an image", [](Augment& a) { a.width = 0; });
  refused("the shift", [](Augment& a) { a.shift = -1; });
  refused("the erased square", [](Augment& a) { a.erase = INT64_MAX; });
  refused("from 0 to 180", [](Augment& a) { a.degrees = 181; });
  refused("from 0 to 180", [](Augment& a) { a.degrees = NAN; });
  for (double Augment::*share : {&Augment::horizontal, &Augment::vertical, &Augment::erase_p, &Augment::brightness,
                                 &Augment::contrast, &Augment::saturation})
    for (const double value : {-0.1, 1.1, static_cast<double>(NAN)})
      refused("from 0 to 1", [&](Augment& a) { a.*share = value; });
  for (const double value : {-0.1, 0.6, static_cast<double>(NAN)})
    refused("the hue must be from 0 to 0.5", [&](Augment& a) { a.hue = value; });
  Augment grey = good;
  grey.height = 35;
  grey.width = 3;
  grey.channels = 1;
  expect_refused(made(grey), "three channels");
  grey.saturation = 0;
  EXPECT_NO_THROW(check(made(grey)));
  grey.hue = 0.1;
  expect_refused(made(grey), "three channels");
  EXPECT_NO_THROW(check(made(good, {1, 2, (int64_t{1} << 32) - 9})));
  expect_refused(made(good, {1, 2, (int64_t{1} << 32) - 8}), "below 2^32");
}

TEST(AvgPoolTest, ChecksShapesAndSides) {
  const AvgPool pool{7, 5, 3, 2, 4};
  EXPECT_NO_THROW(check(avg_pool(m(2, 105), pool, m(2, 24))));
  EXPECT_NO_THROW(check(avg_pool_grad(m(2, 24), pool, m(2, 105))));
  expect_refused(avg_pool(m(2, 24), pool, m(2, 105)), "avg_pool: x is 2x24");
  expect_refused(avg_pool_grad(m(2, 105), pool, m(2, 24)), "avg_pool_grad: grad is 2x105");
  expect_refused(avg_pool(m(2, 105), pool, m(3, 24)), "out is 3x24");
  for (int64_t AvgPool::*side :
       {&AvgPool::height, &AvgPool::width, &AvgPool::channels, &AvgPool::out_h, &AvgPool::out_w})
    for (const int64_t value : {int64_t{0}, int64_t{-3}, kMaxSide + 1, INT64_MAX}) {
      AvgPool broken = pool;
      broken.*side = value;
      expect_refused(avg_pool(m(2, 105), broken, m(2, 24)), "a side of an image");
    }
  const AvgPool window{7, 5, 3, 4, 3, 3, 2, 2, 2, 1, 1, 1};
  EXPECT_NO_THROW(check(avg_pool(m(2, 105), window, m(2, 36))));
  const auto refused = [&](const char* part, auto&& change) {
    AvgPool broken = window;
    change(broken);
    expect_refused(avg_pool(m(2, 105), broken, m(2, 3 * broken.out_h * broken.out_w)), part);
    expect_refused(avg_pool_grad(m(2, 3 * broken.out_h * broken.out_w), broken, m(2, 105)), part);
  };
  refused("a side of the window", [](AvgPool& p) { p.kernel_w = 0; });
  refused("a side of the window", [](AvgPool& p) { p.stride_h = 0; });
  refused("padding must be", [](AvgPool& p) { p.pad_w = 2; });
  refused("in the padding", [](AvgPool& p) { p.out_h = 5; });
  refused("0 or 1", [](AvgPool& p) { p.counts_padding = 2; });
}

// As in PyTorch, every pixel is in a cell, and cells that do not divide the side overlap.
TEST(AvgPoolTest, CellsCoverTheSide) {
  for (int64_t size = 1; size <= 12; ++size)
    for (int64_t cells = 1; cells <= 15; ++cells) {
      EXPECT_EQ(avg_pool_begin(0, size, cells), 0);
      EXPECT_EQ(avg_pool_end(cells - 1, size, cells), size);
      for (int64_t at = 0; at < cells; ++at) {
        EXPECT_LT(avg_pool_begin(at, size, cells), avg_pool_end(at, size, cells));
        const int64_t before = at == 0 ? 0 : avg_pool_end(at - 1, size, cells);
        EXPECT_LE(avg_pool_begin(at, size, cells), before);
      }
    }
  EXPECT_EQ(avg_pool_begin(1, 5, 3), 1);
  EXPECT_EQ(avg_pool_end(1, 5, 3), 4);
}

TEST(BiasAct, ChecksShapesAndActivation) {
  EXPECT_NO_THROW(check(bias_act(m(3, 4), v(4), Activation::relu, m(3, 4))));
  EXPECT_NO_THROW(check(bias_act(m(3, 4), {}, Activation::none, m(3, 4))));
  expect_refused(bias_act(m(3, 4), v(3), Activation::relu, m(3, 4)), "bias is 1x3, expected 1x4");
  expect_refused(bias_act(m(3, 4), v(4), Activation::relu, m(4, 3)), "out is 4x3");
  expect_refused(bias_act(m(3, 4), v(4), static_cast<Activation>(10), m(3, 4)), "unknown activation 10");
  EXPECT_NO_THROW(check(bias_act(m(3, 4), {}, Activation::leaky_relu, m(3, 4), 0.01)));
  for (const double slope : {-0.1, std::nan(""), HUGE_VAL}) {
    expect_refused(bias_act(m(3, 4), {}, Activation::leaky_relu, m(3, 4), slope), "bias_act: the slope");
    expect_refused(act_grad(m(3, 4), m(3, 4), Activation::leaky_relu, m(3, 4), slope), "act_grad: the slope");
  }
  mk_op product = gemm_bias_act(m(3, 4), m(4, 5), {}, Activation::gelu, m(3, 5));
  expect_refused(product, "gemm: unknown activation 3");
  EXPECT_NO_THROW(check(act_grad(m(3, 4), m(3, 4), Activation::relu, m(3, 4))));
  expect_refused(act_grad(m(3, 4), m(3, 5), Activation::relu, m(3, 4)), "y is 3x5");
  expect_refused(act_grad(m(3, 4), m(3, 4), static_cast<Activation>(-1), m(3, 4)), "unknown activation -1");
}

TEST(Dropout, ChecksItsAttributes) {
  const auto with = [](double p, const DropoutPlace& place) { return dropout(m(3, 4), p, place, m(3, 4)); };
  EXPECT_NO_THROW(check(with(0, {})));
  EXPECT_NO_THROW(check(with(0.999, {UINT64_MAX, UINT32_MAX, UINT32_MAX, (int64_t{1} << 32) - 3})));
  for (const double p : {1.0, -0.1, 2.0, std::nan("")}) expect_refused(with(p, {}), "p must be");
  expect_refused(with(0.5, {0, 0, 0, -1}), "below 2^32");
  expect_refused(with(0.5, {0, 0, 0, (int64_t{1} << 32) - 2}), "below 2^32");
  for (const int64_t value : {int64_t{-1}, int64_t{1} << 32}) {
    expect_refused(with(0.5, {0, value, 0, 0}), "layer and step");
    expect_refused(with(0.5, {0, 0, value, 0}), "layer and step");
  }
  expect_refused(dropout(m(3, 4), 0.5, {}, m(4, 3)), "out is 4x3");
}

TEST(Dropout, ThresholdIsRounded) {
  EXPECT_EQ(dropout_threshold(dropout(m(1, 1), 0, {}, m(1, 1))), 0U);
  EXPECT_EQ(dropout_threshold(dropout(m(1, 1), 0.5, {}, m(1, 1))), 0x80000000U);
  EXPECT_EQ(dropout_threshold(dropout(m(1, 1), 0.3, {}, m(1, 1))), 0x4CCCCCCDU);
  EXPECT_EQ(dropout_threshold(dropout(m(1, 1), 1 - 0x1p-50, {}, m(1, 1))), UINT32_MAX);
  EXPECT_EQ(dropout_scale(dropout(m(1, 1), 0.75, {}, m(1, 1))), 4.0F);
}

TEST(AffineColumns, ChecksShapes) {
  EXPECT_NO_THROW(check(affine_columns(m(3, 4), v(4), v(4), m(3, 4))));
  EXPECT_NO_THROW(check(affine_columns(m(3, 4), v(4), {}, m(3, 4))));
  expect_refused(affine_columns(m(3, 4), v(3), v(4), m(3, 4)), "scale is 1x3");
  expect_refused(affine_columns(m(3, 4), v(4), v(5), m(3, 4)), "shift is 1x5");
  expect_refused(affine_columns(m(3, 4), v(4), v(4), m(3, 3)), "out is 3x3");
}

TEST(Losses, CheckShapes) {
  const mk_tensor index = v(5, MK_I32), label = v(9, MK_I32);
  EXPECT_NO_THROW(check(softmax_loss(m(5, 3), label, index, 1, m(5, 2), m(5, 3))));
  EXPECT_NO_THROW(check(softmax_loss(m(5, 3), label, index, 1, m(5, 2), {})));
  expect_refused(softmax_loss(m(5, 3), v(9), index, 1, m(5, 2), {}), "label has the wrong element type");
  expect_refused(softmax_loss(m(5, 3), m(9, 1, MK_I32), index, 1, m(5, 2), {}), "label is 9x1");
  expect_refused(softmax_loss(m(5, 3), label, v(4, MK_I32), 1, m(5, 2), {}), "index is 1x4");
  expect_refused(softmax_loss(m(5, 3), label, index, 1, m(5, 1), {}), "rows is 5x1");
  expect_refused(softmax_loss(m(5, 3), label, index, 1, m(5, 2), m(5, 4)), "grad is 5x4");
  expect_refused(softmax_loss(m(5, 0), label, index, 1, m(5, 2), {}), "no columns");
  EXPECT_NO_THROW(check(squared_loss(m(5, 3), m(9, 3), index, 1, m(5, 2), m(5, 3))));
  expect_refused(squared_loss(m(5, 3), m(9, 2), index, 1, m(5, 2), {}), "target is 9x2");
  expect_refused(squared_loss(m(5, 3), m(9, 3, MK_I32), index, 1, m(5, 2), {}), "target has the wrong element type");
}

TEST(OptimizerStep, ChecksShapesAndStates) {
  const OptimizerSettings plain{Optimizer::sgd, 0.1, 0, 0, 0, 0}, momentum{Optimizer::sgd, 0.1, 0, 0.9, 0, 0};
  const OptimizerSettings adam{Optimizer::adam, 0.1, 0, 0.9, 0.999, 1e-8};
  const OptimizerSettings rmsprop{Optimizer::rmsprop, 0.1, 0, 0.99, 0, 1e-8};
  EXPECT_EQ(plain.states(), 0U);
  EXPECT_EQ(momentum.states(), 1U);
  EXPECT_EQ(adam.states(), 2U);
  EXPECT_EQ(rmsprop.states(), 1U);
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), {}, {}, plain, 1)));
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), v(7), {}, momentum, 1)));
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), v(7), v(7), adam, 3)));
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), v(7), {}, rmsprop, 3)));
  expect_refused(optimizer_step(v(7), v(6), {}, {}, plain, 1), "weight is 1x6");
  expect_refused(optimizer_step(m(7, 1), m(7, 1), {}, {}, plain, 1), "grad is 7x1");
  expect_refused(optimizer_step(v(7), v(7), v(7), v(8), adam, 1), "state is 1x8");
  expect_refused(optimizer_step(v(7), v(7), v(7), v(7), adam, 0), "steps count from 1");
  mk_op op = optimizer_step(v(7), v(7), v(7), v(7), adam, 1);
  op.n_outputs = 2;
  expect_refused(op, "wrong number of states");
  op = optimizer_step(v(7), v(7), v(7), v(7), adam, 1);
  op.optimizer_step.settings.kind = static_cast<Optimizer>(5);
  expect_refused(op, "unknown optimizer 5");
  OptimizerSettings ams = adam;
  ams.amsgrad = 1;
  EXPECT_EQ(ams.states(), 3U);
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), v(7), v(7), ams, 3, {}, v(7))));
  expect_refused(optimizer_step(v(7), v(7), v(7), v(7), ams, 3, {}, v(6)), "state is 1x6");
  op = optimizer_step(v(7), v(7), v(7), {}, momentum, 1);
  op.optimizer_step.settings.amsgrad = 1;
  expect_refused(op, "amsgrad is 0, or 1 for adam and adamw");
}

TEST(GatherPixels, ChecksShapes) {
  const PixelMap map{5, 4, 3, 7, 6};
  const mk_tensor row = v(7, MK_I32), column = v(6, MK_I32);
  EXPECT_NO_THROW(check(gather_pixels(m(2, 60), row, column, map, m(2, 126))));
  EXPECT_NO_THROW(check(gather_pixels_grad(m(2, 126), row, column, map, m(2, 60))));
  expect_refused(gather_pixels(m(2, 61), row, column, map, m(2, 126)), "x is 2x61");
  expect_refused(gather_pixels(m(2, 60), row, column, map, m(2, 125)), "out is 2x125");
  expect_refused(gather_pixels(m(2, 60), v(7), column, map, m(2, 126)), "row has the wrong element type");
  expect_refused(gather_pixels(m(2, 60), row, m(6, 1, MK_I32), map, m(2, 21)), "column is 6x1");
  expect_refused(gather_pixels(m(2, 60), v(0, MK_I32), column, map, m(2, 0)), "not from 1 to 2^20");
  expect_refused(gather_pixels_grad(m(2, 126), row, column, map, m(2, 59)), "dx is 2x59");
  expect_refused(gather_pixels_grad(m(3, 126), row, column, map, m(2, 60)), "dx is 2x60");
}

TEST(Softmax, ChecksShapes) {
  EXPECT_NO_THROW(check(softmax(m(3, 4), m(3, 4))));
  EXPECT_NO_THROW(check(softmax_grad(m(3, 4), m(3, 4), m(3, 4))));
  expect_refused(softmax(m(3, 4), m(3, 5)), "out is 3x5");
  expect_refused(softmax_grad(m(3, 4), m(3, 3), m(3, 4)), "y is 3x3");
  expect_refused(softmax_grad(m(3, 4), m(3, 4), m(2, 4)), "dx is 2x4");
}

TEST(Multiply, ChecksShapes) {
  EXPECT_NO_THROW(check(multiply(m(6, 4), m(2, 4), m(6, 4))));
  EXPECT_NO_THROW(check(multiply(m(0, 4), m(0, 4), m(0, 4))));
  EXPECT_NO_THROW(check(multiply_grad_factor(m(6, 4), m(6, 4), m(2, 4))));
  expect_refused(multiply(m(6, 4), m(4, 4), m(6, 4)), "the 4 rows of factor do not divide the 6 rows of x");
  expect_refused(multiply(m(6, 4), m(0, 4), m(6, 4)), "the 0 rows of factor do not divide");
  expect_refused(multiply(m(6, 4), m(2, 3), m(6, 4)), "factor is 2x3");
  expect_refused(multiply(m(6, 4), m(2, 4), m(2, 4)), "out is 2x4");
  expect_refused(multiply_grad_factor(m(6, 4), m(2, 4), m(2, 4)), "x is 2x4");
  expect_refused(multiply_grad_factor(m(6, 4), m(6, 4), m(5, 4)), "the 5 rows of dfactor do not divide");
}

TEST(OptimizerStep, ChecksSettings) {
  const OptimizerSettings adam{Optimizer::adam, 0.1, 0, 0.9, 0.999, 1e-8};
  const auto refused = [&](double OptimizerSettings::*setting, double value, const char* part) {
    OptimizerSettings broken = adam;
    broken.*setting = value;
    expect_refused(optimizer_step(v(7), v(7), v(7), v(7), broken, 1), part);
  };
  for (double OptimizerSettings::*setting : {&OptimizerSettings::lr, &OptimizerSettings::weight_decay,
                                             &OptimizerSettings::a, &OptimizerSettings::b, &OptimizerSettings::eps})
    for (const double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
      refused(setting, value, "finite and not negative");
  refused(&OptimizerSettings::a, 1, "below 1");  // 1 - beta^t would be 0
  refused(&OptimizerSettings::b, 1, "below 1");
  const OptimizerSettings heavy{Optimizer::sgd, 0.1, 0, 1, 0, 0};
  EXPECT_NO_THROW(check(optimizer_step(v(7), v(7), v(7), {}, heavy, 1))) << "momentum is no decay";
}

TEST(LinearUpdate, ChecksShapesAndSettings) {
  const OptimizerSettings plain{Optimizer::sgd, 0.1, 0, 0}, heavy{Optimizer::sgd, 0.1, 0, 0.9};
  EXPECT_NO_THROW(check(linear_update(m(4, 6), m(4, 5), m(6, 5), m(6, 5), m(4, 6), heavy, 1)));
  EXPECT_NO_THROW(check(linear_update(m(4, 6), m(4, 5), m(6, 5), {}, {}, plain, 1)));
  EXPECT_NO_THROW(check(linear_update(m(0, 6), m(0, 5), m(6, 5), {}, m(0, 6), plain, 1)));
  expect_refused(linear_update(m(4, 7), m(4, 5), m(6, 5), {}, {}, plain, 1), "x is 4x7, expected 4x6");
  expect_refused(linear_update(m(4, 6), m(3, 5), m(6, 5), {}, {}, plain, 1), "dy is 3x5, expected 4x5");
  expect_refused(linear_update(m(4, 6), m(4, 5), m(6, 5), m(5, 6), {}, heavy, 1), "state is 5x6, expected 6x5");
  expect_refused(linear_update(m(4, 6), m(4, 5), m(6, 5), {}, m(4, 5), plain, 1), "dx is 4x5, expected 4x6");
  expect_refused(linear_update(m(4, 0), m(4, 5), m(0, 5), {}, {}, plain, 1), "weight is empty");
  expect_refused(linear_update(m(17, 6), m(17, 5), m(6, 5), {}, {}, plain, 1), "more than 16 rows");
  expect_refused(linear_update(m(4, 6), m(4, 5), m(6, 5), {}, {}, plain, 0), "steps count from 1");
  mk_op op = linear_update(m(4, 6), m(4, 5), m(6, 5), {}, {}, plain, 1);
  op.outputs[1] = m(6, 5);
  expect_refused(op, "state is 6x5, expected 0x0");
  op = linear_update(m(4, 6), m(4, 5), m(6, 5), {}, m(4, 6), plain, 1, true);
  EXPECT_NO_THROW(check(op));
  op.linear_update.after_relu = 2;
  expect_refused(op, "after_relu is neither 0 nor 1");
  for (double mk_linear_update::*setting :
       {&mk_linear_update::lr, &mk_linear_update::weight_decay, &mk_linear_update::momentum}) {
    op = linear_update(m(4, 6), m(4, 5), m(6, 5), m(6, 5), {}, heavy, 1);
    op.linear_update.*setting = -1;
    expect_refused(op, "finite and not negative");
  }
}

TEST(LinearUpdate, CountsEachWeightTwice) {
  const OptimizerSettings heavy{Optimizer::sgd, 0.1, 0, 0.9};
  const sdk::Cost cost =
      rule(MK_OP_LINEAR_UPDATE).cost(linear_update(m(2, 100), m(2, 50), m(100, 50), m(100, 50), {}, heavy, 1));
  EXPECT_EQ(cost.bytes, 4.0 * (4 * 5000 + 2 * 150));
  EXPECT_EQ(cost.flops, 5000.0 * (2 * 2 + 6));
  EXPECT_TRUE(has_linear_update(heavy, kLinearUpdateRows));
  EXPECT_FALSE(has_linear_update(heavy, kLinearUpdateRows + 1));
  EXPECT_FALSE(has_linear_update({Optimizer::adam, 0.1, 0, 0.9, 0.999, 1e-8}, 4));
}

TEST(BatchNormGrad, ChecksRunningMoments) {
  const auto grad = [](const mk_tensor& dx, const RunningMoments& running) {
    return batch_norm_grad(m(4, 6), m(4, 6), m(kNormMoments, 6), Activation::relu, v(6), v(6), dx, running);
  };
  EXPECT_NO_THROW(check(grad(m(4, 6), {})));
  EXPECT_NO_THROW(check(grad(m(4, 6), {m(2, 6), 0.5, m(2, 6)})));
  EXPECT_NO_THROW(check(grad({}, {m(2, 6), 0.5, m(2, 6)})));
  expect_refused(grad(m(4, 6), {m(2, 5), 0.5, m(2, 6)}), "running is 2x5, expected 2x6");
  expect_refused(grad({}, {m(2, 6), 0.5, m(1, 6)}), "drunning is 1x6, expected 2x6");
  expect_refused(grad(m(4, 6), {m(2, 6), NAN, m(2, 6)}), "share must be finite");
  mk_op op = grad(m(4, 6), {});
  op.n_outputs = 4;
  expect_refused(op, "given together");
}

}  // namespace
}  // namespace mokume::ops::network_test
