#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "problem.hpp"
#include "skips.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

struct KernelMatrix {
  int64_t rows;
  double tolerance;  // bound for each element
  Words values;
};

// Runs a model's ops on one device: Gram matrix, norms, RBF in place. Row r equals row r - rows/2.
KernelMatrix rbf_of_repeated_rows(DeviceUnderTest& dut, int64_t rows, int64_t features, double gamma) {
  Problem p;
  const int64_t half = rows / 2;
  const mk_tensor row = p.random(half, features, {}, -2, 2);
  const mk_tensor x =
      p.floats(rows, features, {}, [&](int64_t r, int64_t c) { return static_cast<float>(p.at(row, r % half, c)); });
  const Words& content = p.memory[Problem::memory_of(x)];
  Buffer data(dut, content), gram(dut, static_cast<uint64_t>(rows * rows) * 4),
      norms(dut, static_cast<uint64_t>(rows) * 4);
  const mk_tensor dx = sdk::matrix(data.handle(), rows, features), k = sdk::matrix(gram.handle(), rows, rows);
  const mk_tensor n = sdk::vector(norms.handle(), rows);
  const mk_op steps[] = {ops::gemm(dx, false, dx, true, k), ops::row_norm2(dx, n),
                         ops::kernel_map(k, n, n, k, {ops::KernelKind::rbf, gamma, 0, 3})};
  double tolerance = 0, norm = 4.0 * static_cast<double>(features);  // an upper bound of a squared norm
  for (const mk_op& step : steps) {
    must(submit(dut, step));
    tolerance += ops::rule(step.code).tolerance(step) * (1 + gamma * 4 * norm);
  }
  finish(dut);
  return {rows, tolerance, gram.read()};
}

void rbf_of_equal_rows_is_one(DeviceUnderTest& dut) {
  const KernelMatrix k = rbf_of_repeated_rows(dut, 22, 31, 0.05);
  const double one_and_a_bit = 1 + 16 * 0x1p-24;  // distances are cut at 0, so only exp itself may exceed 1
  for (int64_t r = 0; r < k.rows; ++r)
    for (int64_t c = 0; c < k.rows; ++c) {
      const double value = as_float(k.values[static_cast<size_t>(r * k.rows + c)]);
      ASSERT_LE(value, one_and_a_bit) << r << ", " << c;
      ASSERT_GT(value, 0) << r << ", " << c;
      if (r % (k.rows / 2) == c % (k.rows / 2)) {
        ASSERT_NEAR(value, 1, k.tolerance) << r << ", " << c;
      } else {
        ASSERT_LT(value, 0.9) << r << ", " << c;
      }
    }
}

// Winograd's algorithm does not apply to this window, and all numbers are integers, so every device's sums are exact.
void convolution_of_integers_is_exact(DeviceUnderTest& dut) {
  const ops::Window w{6, 5, 3, 3, 2, 2, 1, 1, 1};
  constexpr int64_t kImages = 2, kFilters = 4;
  const int64_t pixels = w.out_pixels();
  Problem p;
  const auto integer = [](int64_t factor) {
    return [factor](int64_t r, int64_t c) { return static_cast<float>((r * 31 + c * factor) % 11 - 5); };
  };
  const mk_tensor x = p.floats(kImages, w.image(), {}, integer(7));
  const mk_tensor weight = p.floats(w.patch(), kFilters, {}, integer(3)), bias = p.floats(1, kFilters, {}, integer(5));
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const Words& content : p.memory) buffers.push_back(std::make_unique<Buffer>(dut, content));
  Buffer maps(dut, static_cast<uint64_t>(kImages * pixels * kFilters) * 4);
  const mk_tensor out = sdk::matrix(maps.handle(), kImages, pixels * kFilters);
  const std::vector<mk_op> steps = {ops::conv2d(
      sdk::matrix(buffers[0]->handle(), kImages, w.image()), sdk::matrix(buffers[1]->handle(), w.patch(), kFilters),
      sdk::vector(buffers[2]->handle(), kFilters), w, ops::Activation::relu, out)};
  if (!all_supported(dut, steps)) GTEST_SKIP() << kUnsupportedOp;
  for (const mk_op& step : steps) must(submit(dut, step));
  finish(dut);
  const Words got = maps.read();
  const auto pixel = [&](int64_t n, int64_t y, int64_t column, int64_t k) {
    const bool inside = y >= 0 && y < w.height && column >= 0 && column < w.width;
    return inside ? p.at(x, n, (y * w.width + column) * w.channels + k) : 0;
  };
  for (int64_t row = 0; row < kImages * pixels; ++row)
    for (int64_t f = 0; f < kFilters; ++f) {
      const int64_t y = row % pixels / w.out_width() * w.stride_h - w.pad_h;
      const int64_t column = row % w.out_width() * w.stride_w - w.pad_w;
      double sum = p.at(bias, 0, f);
      for (int64_t e = 0; e < w.patch(); ++e) {
        const int64_t i = e / (w.kernel_w * w.channels), j = e / w.channels % w.kernel_w;
        sum += p.at(weight, e, f) * pixel(row / pixels, y + i, column + j, e % w.channels);
      }
      ASSERT_EQ(as_float(got[static_cast<size_t>(row * kFilters + f)]), std::fmax(sum, 0)) << row << ", " << f;
    }
}

// An image's outputs and gradient have the same bits alone and among other images, whichever algorithm a device uses.
void convolution_of_an_image_is_its_own_affair(DeviceUnderTest& dut) {
  if (dut.label() == "host0_host") GTEST_SKIP() << kLibraryProducts;
  const std::pair<ops::Window, int64_t> layers[] = {
      {{15, 15, 1, 3, 3, 1, 1, 0, 0}, 16}, {{6, 5, 16, 3, 3, 1, 1, 1, 1}, 16}, {{7, 7, 5, 2, 2, 2, 2, 1, 1}, 7}};
  constexpr int64_t kImages = 9;
  for (const auto& [w, filters] : layers) {
    const int64_t in = w.image(), out = w.out_pixels() * filters;
    Problem p;
    p.random(kImages, in);
    p.random(w.patch(), filters);
    p.random(1, filters);
    p.random(kImages, out);
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (const Words& content : p.memory) buffers.push_back(std::make_unique<Buffer>(dut, content));
    Buffer y(dut, static_cast<uint64_t>(kImages * out) * 4), dx(dut, static_cast<uint64_t>(kImages * in) * 4);
    const mk_tensor weight = sdk::matrix(buffers[1]->handle(), w.patch(), filters);
    const mk_tensor bias = sdk::vector(buffers[2]->handle(), filters);
    // These ops process images [first, first + count) at their places in y and dx.
    const auto forward = [&, &window = w](int64_t first, int64_t count) {
      return ops::conv2d(sdk::matrix(buffers[0]->handle(), count, in, 0, first * in), weight, bias, window,
                         ops::Activation::relu, sdk::matrix(y.handle(), count, out, 0, first * out));
    };
    const auto back = [&, &window = w](int64_t first, int64_t count) {
      return ops::conv2d_grad_input(sdk::matrix(buffers[3]->handle(), count, out, 0, first * out), weight, window,
                                    sdk::matrix(dx.handle(), count, in, 0, first * in));
    };
    if (!all_supported(dut, {forward(0, kImages), back(0, kImages)})) GTEST_SKIP() << kUnsupportedOp;
    must(submit(dut, forward(0, kImages)));
    must(submit(dut, back(0, kImages)));
    finish(dut);
    const Words together = y.read(), together_back = dx.read();
    for (int64_t n = 0; n < kImages; ++n) {
      must(submit(dut, forward(n, 1)));
      must(submit(dut, back(n, 1)));
    }
    finish(dut);
    EXPECT_EQ(y.read(), together) << w.height << "x" << w.width << "x" << w.channels;
    EXPECT_EQ(dx.read(), together_back) << w.height << "x" << w.width << "x" << w.channels;
  }
}

// A device may keep transformed weights of a convolution. The device must notice every change of the weights.
void convolution_follows_its_weights(DeviceUnderTest& dut) {
  const ops::Window w{4, 4, 16, 3, 3, 1, 1, 0, 0};
  constexpr int64_t kFilters = 16;
  Buffer x(dut, static_cast<uint64_t>(w.image()) * 4), y(dut, static_cast<uint64_t>(w.out_pixels() * kFilters) * 4);
  Buffer weight(dut, static_cast<uint64_t>(w.patch() * kFilters) * 4);
  const mk_tensor dw = sdk::matrix(weight.handle(), w.patch(), kFilters);
  const mk_tensor out = sdk::matrix(y.handle(), 1, w.out_pixels() * kFilters);
  const mk_op step = ops::conv2d(sdk::matrix(x.handle(), 1, w.image()), dw, {}, w, ops::Activation::none, out);
  if (!all_supported(dut, {step})) GTEST_SKIP() << kUnsupportedOp;
  must(submit(dut, ops::fill(sdk::matrix(x.handle(), 1, w.image()), 1.0F)));
  const auto expect = [&](double each) {
    for (int again = 0; again < 2; ++again) {
      must(submit(dut, step));
      finish(dut);
      for (const uint32_t word : y.read())
        ASSERT_NEAR(as_float(word), each * static_cast<double>(w.patch()), 1e-3) << each;
    }
  };
  must(submit(dut, ops::fill(dw, 1.0F)));
  expect(1);
  must(submit(dut, ops::fill(dw, 2.0F)));
  expect(2);
  Buffer other(dut, static_cast<uint64_t>(w.patch() * kFilters) * 4);
  must(submit(dut, ops::fill(sdk::matrix(other.handle(), w.patch(), kFilters), 3.0F)));
  mk_copy change{};
  change.kind = MK_COPY_DEVICE;
  change.from = other.handle();
  change.to = weight.handle();
  change.bytes = static_cast<uint64_t>(w.patch() * kFilters) * 4;
  must(copy(dut, change));
  expect(3);
}

// Dead units leave state that shrinks with every step, and a product of subnormals costs a CPU a hundred times as much
// as other products.
void subnormals_are_zeros(DeviceUnderTest& dut) {
  if (dut.backend() == "opencl" && (dut.has(MK_DEVICE_SOFTWARE) || dut.has(MK_DEVICE_INSTRUMENTED)))
    GTEST_SKIP() << "the driver cannot";
  constexpr int64_t kRows = 3, kColumns = 19;
  constexpr float kSubnormal = 1e-39F, kSmall = 1.5e-38F;  // half of kSmall is subnormal
  const auto filled = [&](int64_t rows, int64_t columns, float value) {
    return std::make_unique<Buffer>(dut, Words(static_cast<size_t>(rows * columns), as_word(value)));
  };
  for (const float state : {kSubnormal, kSmall}) {
    const auto x = filled(kRows, kRows, 1), dy = filled(kRows, kColumns, 0), weight = filled(kRows, kColumns, 1);
    const auto shrunk = filled(kRows, kColumns, state), dx = filled(kRows, kRows, 0);
    const ops::OptimizerSettings settings{ops::Optimizer::sgd, 0.1, 0, 0.5};
    const auto flat = [](const Buffer& b) { return sdk::vector(b.handle(), kRows * kColumns); };
    const auto matrix = [](const Buffer& b, int64_t columns) { return sdk::matrix(b.handle(), kRows, columns); };
    const std::vector<mk_op> apart = {ops::optimizer_step(flat(*dy), flat(*weight), flat(*shrunk), {}, settings, 2)};
    const std::vector<mk_op> fused = {ops::linear_update(matrix(*x, kRows), matrix(*dy, kColumns),
                                                         matrix(*weight, kColumns), matrix(*shrunk, kColumns),
                                                         matrix(*dx, kRows), settings, 2, false)};
    for (const std::vector<mk_op>& step : {apart, fused}) {
      if (!all_supported(dut, step)) GTEST_SKIP() << kUnsupportedOp;
      must(submit(dut, ops::fill(flat(*shrunk), state)));
      must(submit(dut, step[0]));
      finish(dut);
      for (const uint32_t word : shrunk->read()) ASSERT_EQ(word & 0x7fffffff, 0) << state;
    }
  }
  const auto large = filled(kRows, kRows, 1e30F), tiny = filled(kRows, kRows, kSubnormal),
             out = filled(kRows, kRows, 1);
  const auto square = [](const Buffer& b) { return sdk::matrix(b.handle(), kRows, kRows); };
  must(submit(dut, ops::gemm(square(*large), false, square(*tiny), false, square(*out))));
  finish(dut);
  for (const uint32_t word : out->read()) ASSERT_EQ(as_float(word), 0);
}

// The gradient of max_pool goes in full to the largest element. The numbers are integers, so that sums are exact.
void max_pool_gradient_arrives(DeviceUnderTest& dut) {
  const ops::Window w{7, 6, 3, 3, 2, 2, 2, 1, 0};
  const int64_t outputs = w.out_pixels() * w.channels;
  Problem p;
  p.random(2, w.image());
  Buffer image(dut, p.memory[0]), largest(dut, static_cast<uint64_t>(2 * outputs) * 4);
  Buffer place(dut, static_cast<uint64_t>(2 * outputs) * 4), dx(dut, static_cast<uint64_t>(2 * w.image()) * 4);
  const mk_tensor out = sdk::matrix(largest.handle(), 2, outputs);
  const mk_tensor places = sdk::matrix(place.handle(), 2, outputs, 0, 0, MK_I32);
  const std::vector<mk_op> steps = {ops::max_pool(sdk::matrix(image.handle(), 2, w.image()), w, out, places),
                                    ops::fill(out, 1),
                                    ops::max_pool_grad(out, places, w, sdk::matrix(dx.handle(), 2, w.image()))};
  if (!all_supported(dut, steps)) GTEST_SKIP() << kUnsupportedOp;
  for (const mk_op& step : steps) must(submit(dut, step));
  finish(dut);
  double sum = 0;
  for (const uint32_t word : dx.read()) sum += static_cast<double>(as_float(word));
  EXPECT_EQ(sum, static_cast<double>(2 * outputs));
}

// Commands of one queue run in the order of submission, without a finish between them.
void queue_is_in_order(DeviceUnderTest& dut) {
  Buffer a(dut, uint64_t{400}), b(dut, uint64_t{400});
  const mk_tensor va = sdk::vector(a.handle(), 100);
  for (int i = 1; i <= 20; ++i) {
    must(submit(dut, ops::fill(va, static_cast<float>(i))));
    mk_copy what{};
    what.kind = MK_COPY_DEVICE;
    what.from = a.handle();
    what.to = b.handle();
    what.from_offset = what.to_offset = static_cast<uint64_t>(i) * 4;
    what.bytes = 4;
    must(copy(dut, what));
  }
  must(submit(dut, ops::fill(sdk::vector(b.handle(), 1), -1.0F)));
  finish(dut);
  const Words got = b.read();
  for (int i = 0; i <= 20; ++i)
    EXPECT_EQ(as_float(got[static_cast<size_t>(i)]), i == 0 ? -1.0F : static_cast<float>(i));
}

bool uses_clblast(DeviceUnderTest& dut) {
  std::vector<mk_choice> choices(16);
  uint32_t count = 0;
  mk_error error;
  if (dut.table().choices(dut.device(), choices.data(), 16, &count, &error) != MK_OK) return false;
  for (uint32_t i = 0; i < std::min(count, 16U); ++i)
    if (std::string(choices[i].value) == "clblast") return true;
  return false;
}

constexpr const char* kClblastOrder = "CLBlast adds in an order of its own";

const ops::OptimizerSettings kPlain{ops::Optimizer::sgd, 0.1, 0, 0}, kHeavy{ops::Optimizer::sgd, 0.1, 0.01, 0.7};

// Holds a layer with its memory: the operands of linear_update, and a gradient. If `after_relu`, x is the output of a
// relu, with about half of the elements 0.
class LinearLayer {
 public:
  LinearLayer(DeviceUnderTest& dut, int64_t batch, int64_t inputs, int64_t outputs, bool after_relu = false)
      : dut_(dut) {
    Problem p;
    for (const auto& [rows, columns] :
         {std::pair{batch, inputs}, {batch, outputs}, {inputs, outputs}, {inputs, outputs}})
      p.random(rows, columns);
    if (after_relu)
      for (uint32_t& word : p.memory[0]) word = as_float(word) > 0 ? word : 0;
    for (const Words& content : p.memory) buffers_.push_back(std::make_unique<Buffer>(dut, content));
    buffers_.push_back(std::make_unique<Buffer>(dut, static_cast<uint64_t>(batch * inputs) * 4));
    buffers_.push_back(std::make_unique<Buffer>(dut, static_cast<uint64_t>(inputs * outputs) * 4));
    const auto matrix = [this](size_t i, int64_t rows, int64_t columns) {
      return sdk::matrix(buffers_[i]->handle(), rows, columns);
    };
    x = matrix(0, batch, inputs), dy = matrix(1, batch, outputs), weight = matrix(2, inputs, outputs);
    state = matrix(3, inputs, outputs), dx = matrix(4, batch, inputs), gradient = matrix(5, inputs, outputs);
  }

  static mk_tensor flat(const mk_tensor& t) { return sdk::vector(t.buffer, t.rows * t.columns); }

  // Returns false if the device does not support one of the steps.
  bool run(const std::vector<mk_op>& steps) {
    if (!all_supported(dut_, steps)) return false;
    for (const mk_op& step : steps) must(submit(dut_, step));
    finish(dut_);
    return true;
  }

  std::vector<Words> stepped() { return {buffers_[2]->read(), buffers_[3]->read()}; }
  Words input() { return buffers_[0]->read(); }
  Words input_gradient() { return buffers_[4]->read(); }
  Words output_gradient() { return buffers_[1]->read(); }

  mk_tensor x{}, dy{}, weight{}, state{}, dx{}, gradient{};

 private:
  DeviceUnderTest& dut_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

// Two gemms, optimizer_step and, after a relu, act_grad give the weight and the state of linear_update. On the host,
// and where a sum for dx has one term, they also give the same dx. Elsewhere, the cases check dx within its tolerance.
void linear_update_is_those_ops(DeviceUnderTest& dut, int64_t batch, int64_t inputs, int64_t outputs,
                                const ops::OptimizerSettings& settings, int64_t t, bool after_relu = false) {
  LinearLayer fused(dut, batch, inputs, outputs, after_relu), apart(dut, batch, inputs, outputs, after_relu);
  std::vector<mk_op> steps{ops::gemm(apart.dy, false, apart.weight, true, apart.dx),
                           ops::gemm(apart.x, true, apart.dy, false, apart.gradient),
                           ops::optimizer_step(LinearLayer::flat(apart.gradient), LinearLayer::flat(apart.weight),
                                               LinearLayer::flat(apart.state), {}, settings, t)};
  if (after_relu) steps.push_back(ops::act_grad(apart.dx, apart.x, ops::Activation::relu, apart.dx));
  if (!fused.run(
          {ops::linear_update(fused.x, fused.dy, fused.weight, fused.state, fused.dx, settings, t, after_relu)}) ||
      !apart.run(steps))
    GTEST_SKIP() << kUnsupportedOp;
  EXPECT_TRUE(fused.stepped() == apart.stepped()) << "batch " << batch << ", " << inputs << " x " << outputs;
  if (dut.backend() != "host" && outputs > 1) return;
  EXPECT_TRUE(fused.input_gradient() == apart.input_gradient())
      << "dx of batch " << batch << ", " << inputs << " x " << outputs;
}

// All kernels of the OpenCL backend sum dx in this order. Without fma in hardware, they round the product as well.
void linear_update_has_one_chain_or_16(DeviceUnderTest& dut) {
  if (dut.backend() != "opencl") GTEST_SKIP() << "the order of the opencl backend";
  const auto multiply_add = [once = dut.has(MK_DEVICE_FMA)](float a, float b, float c) {
    return once ? std::fma(a, b, c) : a * b + c;
  };
  constexpr size_t kShortRow = 48;
  for (const auto& [batch, inputs, outputs, after_relu] : {std::array<size_t, 4>{3, 5, 7, 0},
                                                           {5, 13, 300, 0},
                                                           {10, 37, 64, 0},
                                                           {13, 20, 83, 0},
                                                           {16, 9, 1, 0},
                                                           {10, 50, 20, 0},
                                                           {16, 70, 33, 0},
                                                           {10, 40, 48, 0},
                                                           {10, 40, 49, 0},
                                                           {3, 5, 7, 1},
                                                           {4, 90, 39, 1},
                                                           {5, 13, 300, 1},
                                                           {10, 370, 64, 1},
                                                           {13, 200, 83, 1},
                                                           {16, 9, 1, 1}}) {
    constexpr size_t kMostWhereChecked = 20'000;  // number of fma operations; more would take minutes
    if (dut.has(MK_DEVICE_INSTRUMENTED) && batch * inputs * outputs > kMostWhereChecked) continue;
    LinearLayer layer(dut, static_cast<int64_t>(batch), static_cast<int64_t>(inputs), static_cast<int64_t>(outputs),
                      after_relu != 0);
    const auto at = [columns = outputs](const Words& words, size_t row, size_t column) {
      return as_float(words[row * columns + column]);
    };
    const Words weight = layer.stepped()[0], x = layer.input(), dy = layer.output_gradient();
    Words expected;
    const size_t chains = outputs <= kShortRow ? 1 : 16;
    for (size_t b = 0; b < batch; ++b)
      for (size_t i = 0; i < inputs; ++i) {
        std::array<float, 16> sums{};
        for (size_t c = 0; c < outputs; ++c)
          sums[c % chains] = multiply_add(at(dy, b, c), at(weight, i, c), sums[c % chains]);
        for (size_t n = chains / 2; n > 0; n /= 2)
          for (size_t k = 0; k < n; ++k) sums[k] += sums[k + n];
        expected.push_back(after_relu != 0 && x[b * inputs + i] == 0 ? 0 : as_word(sums[0]));
      }
    if (!layer.run(
            {ops::linear_update(layer.x, layer.dy, layer.weight, layer.state, layer.dx, kHeavy, 3, after_relu != 0)}))
      GTEST_SKIP() << kUnsupportedOp;
    EXPECT_TRUE(layer.input_gradient() == expected)
        << "batch " << batch << ", " << inputs << " x " << outputs << (after_relu != 0 ? " after a relu" : "");
  }
}

// Compares a weight in one piece with a weight cut after ops::kGemmCut rows.
void linear_update_can_be_cut(DeviceUnderTest& dut, int64_t batch, int64_t outputs,
                              const ops::OptimizerSettings& settings) {
  constexpr int64_t kCut = ops::kGemmCut, kInputs = 2 * kCut + 77;
  LinearLayer whole(dut, batch, kInputs, outputs, true), cut(dut, batch, kInputs, outputs, true);
  std::vector<mk_op> pieces;
  for (int64_t r = 0; r < kInputs; r += kCut) {
    const int64_t n = std::min(kCut, kInputs - r);
    const auto columns = [&](const mk_tensor& t) { return sdk::matrix(t.buffer, batch, n, kInputs, r); };
    const auto rows = [&](const mk_tensor& t) { return sdk::matrix(t.buffer, n, outputs, outputs, r * outputs); };
    pieces.push_back(ops::linear_update(columns(cut.x), cut.dy, rows(cut.weight), rows(cut.state), columns(cut.dx),
                                        settings, 3, true));
  }
  if (!whole.run({ops::linear_update(whole.x, whole.dy, whole.weight, whole.state, whole.dx, settings, 3, true)}) ||
      !cut.run(pieces))
    GTEST_SKIP() << kUnsupportedOp;
  EXPECT_TRUE(whole.stepped() == cut.stepped()) << "batch " << batch << ", " << outputs << " outputs";
  EXPECT_TRUE(whole.input_gradient() == cut.input_gradient()) << "batch " << batch << ", " << outputs << " outputs";
}

void linear_update_is_those_ops_everywhere(DeviceUnderTest& dut) {
  if (uses_clblast(dut)) GTEST_SKIP() << kClblastOrder;
  linear_update_is_those_ops(dut, 3, 5, 7, kHeavy, 1);
  linear_update_is_those_ops(dut, 5, 13, 300, kHeavy, 4);
  linear_update_is_those_ops(dut, 1, 9, 17, kPlain, 2);
  linear_update_is_those_ops(dut, 5, 13, 300, kHeavy, 4, true);
  for (const bool after_relu : {false, true}) linear_update_is_those_ops(dut, 5, 333, 1, kHeavy, 4, after_relu);
  if (skip_reason(dut, Size::normal) != nullptr) return;
  for (const int64_t batch : {int64_t{1}, int64_t{5}, int64_t{10}, int64_t{13}, ops::kLinearUpdateRows})
    linear_update_is_those_ops(dut, batch, 1100, 1589, kHeavy, 3);
  for (const int64_t batch : {int64_t{4}, int64_t{10}, int64_t{13}, ops::kLinearUpdateRows})
    for (const bool after_relu : {false, true})
      linear_update_is_those_ops(dut, batch, 2000, 227, kPlain, 3, after_relu);
  linear_update_is_those_ops(dut, 10, 20011, 1, kHeavy, 3, true);
  linear_update_is_those_ops(dut, 7, 515, 83, kHeavy, 1);
}

void linear_update_can_be_cut_everywhere(DeviceUnderTest& dut) {
  if (skip_reason(dut, Size::normal) != nullptr) GTEST_SKIP() << skip_reason(dut, Size::normal);
  for (const int64_t batch : {int64_t{1}, int64_t{5}, int64_t{10}, ops::kLinearUpdateRows})
    for (const int64_t outputs : {1, 83, 600}) linear_update_can_be_cut(dut, batch, outputs, kHeavy);
}

// Compares a product in one piece with products cut along rows, columns and terms at ops::kGemmCut.
void gemm_can_be_cut(DeviceUnderTest& dut) {
  if (uses_clblast(dut)) GTEST_SKIP() << kClblastOrder;
  if (skip_reason(dut, Size::normal) != nullptr) GTEST_SKIP() << skip_reason(dut, Size::normal);
  struct Cut {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
  };
  constexpr int64_t kCut = ops::kGemmCut;
  // The cases are a linear layer forward and the gradients of its input and its weight, for a few rows and for many.
  for (const Cut& c :
       {Cut{10, 227, 1700, false, false}, Cut{10, 1700, 227, false, true}, Cut{1700, 227, 10, true, false},
        Cut{1, 83, 1100, false, false}, Cut{100, 600, 1300, false, false}, Cut{70, 1300, 600, false, true},
        Cut{5, 10, 2500, false, false}, Cut{10, 1, 2600, false, false}, Cut{3, 5, 2600, false, true},
        Cut{1700, 1, 10, true, false}, Cut{100, 533, 1300, true, false}, Cut{3, 1, 300'000, false, false}}) {
    Problem p;
    const mk_tensor a = p.random(c.transpose_a ? c.k : c.m, c.transpose_a ? c.m : c.k);
    const mk_tensor b = p.random(c.transpose_b ? c.n : c.k, c.transpose_b ? c.k : c.n);
    p.op = ops::gemm(a, c.transpose_a, b, c.transpose_b, p.unwritten(c.m, c.n));
    const std::vector<Words> whole = run(dut, p);
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<mk_buffer*> handles;
    for (const Words& content : p.memory) {
      buffers.push_back(std::make_unique<Buffer>(dut, content));
      handles.push_back(buffers.back()->handle());
    }
    const mk_op op = p.bound(handles);
    const auto part = [](const mk_tensor& t, bool transposed, int64_t r, int64_t rows, int64_t column,
                         int64_t columns) {
      if (transposed) return sdk::matrix(t.buffer, columns, rows, t.row_stride, t.offset + column * t.row_stride + r);
      return sdk::matrix(t.buffer, rows, columns, t.row_stride, t.offset + r * t.row_stride + column);
    };
    for (int64_t m = 0; m < c.m; m += kCut)
      for (int64_t n = 0; n < c.n; n += kCut)
        for (int64_t k = 0; k < c.k; k += kCut) {
          const int64_t dm = std::min(kCut, c.m - m), dn = std::min(kCut, c.n - n), dk = std::min(kCut, c.k - k);
          must(submit(dut, ops::gemm(part(op.inputs[0], c.transpose_a, m, dm, k, dk), c.transpose_a,
                                     part(op.inputs[1], c.transpose_b, k, dk, n, dn), c.transpose_b,
                                     part(op.outputs[0], false, m, dm, n, dn), 1.0F, k == 0 ? 0.0F : 1.0F)));
        }
    finish(dut);
    EXPECT_TRUE(buffers[2]->read() == whole[2]) << c.m << " x " << c.n << " x " << c.k;
  }
}

// Some drivers end a loop after a number of iterations. All terms are 1, so the sum is exact.
void a_long_sum_is_whole(DeviceUnderTest& dut) {
  constexpr int64_t kTerms = 200'003;
  for (const bool transposed : {false, true}) {
    Problem p;
    const auto one = [](int64_t, int64_t) { return 1.0F; };
    const mk_tensor a = p.floats(2, kTerms, {}, one);
    const mk_tensor b = transposed ? p.floats(3, kTerms, {}, one) : p.floats(kTerms, 3, {}, one);
    p.op = ops::gemm(a, false, b, transposed, p.unwritten(2, 3));
    if (!all_supported(dut, {p.op})) continue;  // the host runs this op instead
    const Words sums = run(dut, p)[2];
    const mk_tensor& y = p.op.outputs[0];
    for (int64_t r = 0; r < y.rows; ++r)
      for (int64_t c = 0; c < y.columns; ++c)
        EXPECT_EQ(as_float(sums[static_cast<size_t>(y.offset + r * y.row_stride + c)]), static_cast<float>(kTerms));
  }
}

}  // namespace

void add_semantics_tests(Machine&, DeviceUnderTest& dut) {
  if (skip_reason(dut, Size::tiny) != nullptr) return;  // the op tests report this once
  add_test(dut.label(), "semantics.rbf_of_equal_rows_is_one", [&dut] { rbf_of_equal_rows_is_one(dut); });
  add_test(dut.label(), "semantics.convolution_of_integers_is_exact",
           [&dut] { convolution_of_integers_is_exact(dut); });
  add_test(dut.label(), "semantics.subnormals_are_zeros", [&dut] { subnormals_are_zeros(dut); });
  add_test(dut.label(), "semantics.convolution_of_an_image_is_its_own_affair",
           [&dut] { convolution_of_an_image_is_its_own_affair(dut); });
  add_test(dut.label(), "semantics.convolution_follows_its_weights", [&dut] { convolution_follows_its_weights(dut); });
  add_test(dut.label(), "semantics.max_pool_gradient_arrives", [&dut] { max_pool_gradient_arrives(dut); });
  add_test(dut.label(), "semantics.linear_update_is_those_ops", [&dut] { linear_update_is_those_ops_everywhere(dut); });
  add_test(dut.label(), "semantics.linear_update_has_one_chain_or_16",
           [&dut] { linear_update_has_one_chain_or_16(dut); });
  add_test(dut.label(), "semantics.linear_update_can_be_cut", [&dut] { linear_update_can_be_cut_everywhere(dut); });
  // The oracle rounds once, wherever the product is cut.
  if (dut.backend() != "host" || !dut.has(MK_DEVICE_INSTRUMENTED))
    add_test(dut.label(), "semantics.gemm_can_be_cut", [&dut] { gemm_can_be_cut(dut); });
  if (!dut.has(MK_DEVICE_INSTRUMENTED))
    add_test(dut.label(), "semantics.a_long_sum_is_whole", [&dut] { a_long_sum_is_whole(dut); });
  add_test(dut.label(), "semantics.queue_is_in_order", [&dut] { queue_is_in_order(dut); });
}

}  // namespace mokume::conformance
