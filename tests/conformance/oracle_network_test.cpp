// Compares the oracle's ops for networks with numbers computed by hand.
#include <cmath>
#include <limits>

#include "averages.hpp"
#include "sdk/philox.hpp"
#include "suite.hpp"
#include "windows.hpp"

namespace mokume::conformance {
namespace {

using Values = std::vector<double>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Values output_of(Machine& machine, const Problem& p, uint32_t output = 0) {
  return values_of(p.op.outputs[output], run(machine.oracle(), p));
}

std::vector<int32_t> places_of(Machine& machine, const Problem& p, uint32_t output) {
  const mk_tensor& t = p.op.outputs[output];
  const Words words = run(machine.oracle(), p)[Problem::memory_of(t)];
  std::vector<int32_t> places;
  for (int64_t i = 0; i < t.rows * t.columns; ++i)
    places.push_back(static_cast<int32_t>(words[Problem::place(t, i / t.columns, i % t.columns)]));
  return places;
}

mk_tensor tensor(Problem& p, int64_t rows, const std::vector<float>& values) {
  const int64_t columns = static_cast<int64_t>(values.size()) / rows;
  return p.floats(rows, columns, {},
                  [&](int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; });
}

mk_tensor counting(Problem& p, int64_t rows, int64_t columns) {
  return p.floats(rows, columns, {}, [=](int64_t r, int64_t c) { return static_cast<float>(r * columns + c + 1); });
}

void expect_near(const Values& got, const Values& want, const std::string& what = "") {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << what << " element " << i;
}

void conv2d_by_hand(Machine& machine) {
  Problem p;  // two filters of 2x2x2 at stride 2 over a padded 2x2x2 image, so each window sees one pixel
  const mk_tensor x = counting(p, 1, 8), weight = counting(p, 8, 2), bias = tensor(p, 1, {0, -80});
  p.op = ops::conv2d(x, weight, bias, {2, 2, 2, 2, 2, 2, 2, 1, 1}, ops::Activation::relu, p.unwritten(1, 8));
  EXPECT_EQ(output_of(machine, p), (Values{1 * 13 + 2 * 15, 0, 3 * 9 + 4 * 11, 0,  //
                                           5 * 5 + 6 * 7, 0, 7 * 1 + 8 * 3, 0}));
  Problem q;  // two images of 2x3 and a filter of 1x2
  const mk_tensor images = counting(q, 2, 6), filter = tensor(q, 2, {10, 1});
  q.op = ops::conv2d(images, filter, {}, {2, 3, 1, 1, 2, 1, 1, 0, 0}, ops::Activation::none, q.unwritten(2, 4));
  EXPECT_EQ(output_of(machine, q), (Values{12, 23, 45, 56, 78, 89, 111, 122}));
}

void conv2d_gradients_by_hand(Machine& machine) {
  const ops::Window w{2, 3, 1, 1, 2, 1, 1, 0, 0};
  Problem p;
  const mk_tensor dy = counting(p, 1, 4), filter = tensor(p, 2, {10, 1});
  p.op = ops::conv2d_grad_input(dy, filter, w, p.unwritten(1, 6));
  EXPECT_EQ(output_of(machine, p), (Values{10, 21, 2, 30, 43, 4}));
  Problem q;
  const mk_tensor x = counting(q, 1, 6), grad = counting(q, 1, 4);
  q.op = ops::conv2d_grad_weight(x, grad, w, q.unwritten(2, 1), q.unwritten(1, 1));
  EXPECT_EQ(output_of(machine, q), (Values{1 + 4 + 12 + 20, 2 + 6 + 15 + 24}));
  EXPECT_EQ(output_of(machine, q, 1), (Values{10}));
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Makes random integers, so that every sum is exact.
mk_tensor small_integers(Problem& p, int64_t rows, int64_t columns) {
  const mk_tensor t = p.random(rows, columns, {}, -9, 9);
  for (uint32_t& word : p.memory[Problem::memory_of(t)]) word = as_word(std::nearbyint(as_float(word)));
  return t;
}

// A convolution is linear in its images and in its weights, and its gradients are the transposes:
// <conv2d(x, w), y> = <x, grad_input(y, w)> = <w, grad_weight(x, y)>.
void conv2d_gradients_are_its_transposes(Machine& machine) {
  for (const WindowCase& c : window_cases()) {
    if (c.size != Size::tiny || c.images == 0) continue;
    constexpr int64_t kFilters = 3;
    const int64_t pixels = c.window.out_pixels() * kFilters;
    Problem values;
    const mk_tensor x = small_integers(values, c.images, c.window.image());
    const mk_tensor weight = small_integers(values, c.window.patch(), kFilters);
    const mk_tensor y = small_integers(values, c.images, pixels);
    Problem forward = values, images = values, weights = values;
    forward.op = ops::conv2d(x, weight, {}, c.window, ops::Activation::none, forward.unwritten(c.images, pixels));
    images.op = ops::conv2d_grad_input(y, weight, c.window, images.unwritten(c.images, c.window.image()));
    weights.op = ops::conv2d_grad_weight(x, y, c.window, weights.unwritten(c.window.patch(), kFilters), {});
    const double want = dot(output_of(machine, forward), values_of(y, values.memory));
    EXPECT_EQ(want, dot(values_of(x, values.memory), output_of(machine, images))) << c.name;
    EXPECT_EQ(want, dot(values_of(weight, values.memory), output_of(machine, weights))) << c.name;
  }
}

void max_pool_by_hand(Machine& machine) {
  const auto pool = [&](const std::vector<float>& image, const ops::Window& w, const Values& want,
                        const std::vector<int32_t>& places) {
    Problem p;
    const int64_t n = w.out_pixels() * w.channels;
    const mk_tensor x = tensor(p, 1, image), out = p.unwritten(1, n);
    p.op = ops::max_pool(x, w, out, p.unwritten(1, n, {}, MK_I32));
    EXPECT_EQ(output_of(machine, p), want);
    EXPECT_EQ(places_of(machine, p, 1), places);
  };
  pool({1, 4, 2, 5, 3, 5}, {2, 3, 1, 2, 2, 1, 1, 0, 0}, {5, 5}, {2, 3});
  pool({2, 2, 1}, {1, 3, 1, 1, 2, 1, 1, 0, 0}, {2, 2}, {0, 0});       // the first of two equal elements
  pool({-3, -1, -2}, {1, 3, 1, 1, 3, 2, 2, 0, 1}, {-1, -1}, {2, 0});  // padding does not count as 0
  pool({1, 8, 5, 2}, {1, 2, 2, 1, 2, 1, 1, 0, 0}, {5, 8}, {1, 0});    // each channel is separate
  Problem p;
  const mk_tensor x = tensor(p, 1, {1, kNan, 7, kNan, 0, 9}), out = p.unwritten(1, 1);
  p.op = ops::max_pool(x, {2, 3, 1, 2, 3, 1, 1, 0, 0}, out, p.unwritten(1, 1, {}, MK_I32));
  EXPECT_TRUE(std::isnan(output_of(machine, p)[0]));
  EXPECT_EQ(places_of(machine, p, 1), std::vector<int32_t>{1}) << "the first NaN";
}

void max_pool_grad_by_hand(Machine& machine) {
  Problem p;
  const mk_tensor grad = tensor(p, 1, {10, 3}), place = p.indices({1, 0});
  p.op = ops::max_pool_grad(grad, place, {1, 3, 1, 1, 2, 1, 1, 0, 0}, p.unwritten(1, 3));
  EXPECT_EQ(output_of(machine, p), (Values{0, 13, 0}));
  Problem whole;  // has padding left and right, and two channels
  const mk_tensor six = tensor(whole, 1, {1, 2, 4, 8, 16, 32}), at = whole.indices({1, 1, 0, 1, 0, 0});
  whole.op = ops::max_pool_grad(six, at, {1, 2, 2, 1, 2, 1, 1, 0, 1}, whole.unwritten(1, 4));
  EXPECT_EQ(output_of(machine, whole), (Values{5, 2, 16, 40}));
}

void avg_pool_by_hand(Machine& machine) {
  Problem line;
  line.op = ops::avg_pool(counting(line, 1, 5), {1, 5, 1, 1, 3}, line.unwritten(1, 3));
  EXPECT_EQ(output_of(machine, line), (Values{1.5, 3, 4.5}));
  Problem square;
  square.op = ops::avg_pool(counting(square, 1, 8), {2, 2, 2, 1, 1}, square.unwritten(1, 2));
  EXPECT_EQ(output_of(machine, square), (Values{4, 5}));
  Problem rows;  // 4x2 pixels become 2x1: from rows 0 and 1, and from rows 2 and 3
  rows.op = ops::avg_pool(counting(rows, 1, 8), {4, 2, 1, 2, 1}, rows.unwritten(1, 2));
  EXPECT_EQ(output_of(machine, rows), (Values{2.5, 6.5}));
}

void avg_pool_grad_by_hand(Machine& machine) {
  Problem line;
  line.op = ops::avg_pool_grad(tensor(line, 1, {6, 6, 6}), {1, 5, 1, 1, 3}, line.unwritten(1, 5));
  EXPECT_EQ(output_of(machine, line), (Values{3, 5, 2, 5, 3}));
  Problem square;
  square.op = ops::avg_pool_grad(tensor(square, 1, {4, 8}), {2, 2, 2, 1, 1}, square.unwritten(1, 8));
  EXPECT_EQ(output_of(machine, square), (Values{1, 2, 1, 2, 1, 2, 1, 2}));
}

// The gradient is the transpose: <avg_pool(x), y> = <x, avg_pool_grad(y)>.
void avg_pool_grad_is_the_transpose(Machine& machine) {
  for (const AverageCase& a : average_cases()) {
    if (a.size != Size::tiny || a.images == 0) continue;
    Problem p, q;
    const mk_tensor x = small_integers(p, a.images, a.pool.image());
    q.random(1, 1);
    const mk_tensor y = small_integers(q, a.images, a.pool.out_image());
    p.op = ops::avg_pool(x, a.pool, p.unwritten(y.rows, y.columns));
    q.op = ops::avg_pool_grad(y, a.pool, q.unwritten(x.rows, x.columns));
    const double one = dot(output_of(machine, p), values_of(y, q.memory));
    EXPECT_NEAR(one, dot(values_of(x, p.memory), output_of(machine, q)), 1e-3 * (1 + std::fabs(one))) << a.name;
  }
}

void activations_by_hand(Machine& machine) {
  for (const bool biased : {false, true})
    for (const ops::Activation activation : {ops::Activation::none, ops::Activation::relu}) {
      Problem p;
      const mk_tensor x = tensor(p, 2, {1, -2, -3, 4}), bias = biased ? tensor(p, 1, {1, 0.5F}) : mk_tensor{};
      p.op = ops::bias_act(x, bias, activation, p.unwritten(2, 2));
      Values want = biased ? Values{2, -1.5, -2, 4.5} : Values{1, -2, -3, 4};
      if (activation == ops::Activation::relu) want[1] = want[2] = 0;
      EXPECT_EQ(output_of(machine, p), want);
    }
  Problem p;
  const mk_tensor x = tensor(p, 1, {kNan, 1});
  p.op = ops::bias_act(x, {}, ops::Activation::relu, p.unwritten(1, 2));
  EXPECT_TRUE(std::isnan(output_of(machine, p)[0])) << "relu hides a NaN";
}

void act_grad_by_hand(Machine& machine) {
  for (const ops::Activation activation : {ops::Activation::none, ops::Activation::relu}) {
    Problem p;
    const mk_tensor grad = tensor(p, 2, {1, 2, 3, 4}), y = tensor(p, 2, {0, 5, -1, kNan});
    p.op = ops::act_grad(grad, y, activation, p.unwritten(2, 2));
    const bool relu = activation == ops::Activation::relu;
    EXPECT_EQ(output_of(machine, p), (relu ? Values{0, 2, 0, 0} : Values{1, 2, 3, 4}));
  }
}

// philox({0, 0, 0, 0}, {0, 0}) is 6627e8d5 e169c58d bc57ac4c 9b00dbd8, which is Random123's known answer.
void dropout_by_hand(Machine& machine) {
  const auto dropped = [&](double p) {
    Problem problem;
    problem.op = ops::dropout(counting(problem, 1, 4), p, {}, problem.unwritten(1, 4));
    return output_of(machine, problem);
  };
  EXPECT_EQ(dropped(0.5), (Values{0, 4, 6, 8}));
  EXPECT_EQ(dropped(0), (Values{1, 2, 3, 4}));
  EXPECT_GT(dropped(0x9b00dbd8p-32)[3], 0) << "a word equal to the threshold is kept";
  EXPECT_EQ(dropped(0x9b00dbd9p-32)[3], 0);
}

void dropout_by_definition(Machine& machine) {
  constexpr int64_t kRows = 100, kColumns = 1001;
  constexpr uint32_t kThreshold = 0x4CCCCCCDU;  // round(0.3 * 2^32)
  const ops::DropoutPlace place{0x1122334455667788U, 5, 6, 70};
  Problem p;
  const mk_tensor x = p.floats(kRows, kColumns, {}, [](int64_t, int64_t) { return 0.7F; });
  p.op = ops::dropout(x, 0.3, place, p.unwritten(kRows, kColumns));
  const Values got = output_of(machine, p);
  double kept = 0;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c) {
      const auto row = static_cast<uint32_t>(70 + r), quarter = static_cast<uint32_t>(c / 4);
      const uint32_t word = sdk::philox({row, quarter, 6, 5}, {0x55667788U, 0x11223344U})[static_cast<size_t>(c % 4)];
      const double want = word >= kThreshold ? 1 : 0;
      ASSERT_NEAR(got[static_cast<size_t>(r * kColumns + c)], want, 1e-6) << r << ", " << c;
      kept += want;
    }
  EXPECT_NEAR(kept / (kRows * kColumns), 0.7, 0.006) << "four standard deviations";
}

void affine_by_hand(Machine& machine) {
  for (const bool shifted : {false, true}) {
    Problem p;
    const mk_tensor x = tensor(p, 2, {1, 2, 3, 4}), scale = tensor(p, 1, {2, -1});
    const mk_tensor shift = shifted ? tensor(p, 1, {1, 0.5F}) : mk_tensor{};
    p.op = ops::affine_columns(x, scale, shift, p.unwritten(2, 2));
    EXPECT_EQ(output_of(machine, p), (shifted ? Values{0, -1.5, 4, -3.5} : Values{2, -2, 6, -4}));
  }
}

void softmax_loss_by_hand(Machine& machine) {
  const float ln3 = static_cast<float>(std::log(3.0));  // softmax of {0, ln 3} is {1/4, 3/4}
  Problem p;
  const mk_tensor logits = tensor(p, 2, {0, ln3, 100, 100 + ln3}), label = p.indices({0, 9, 1});
  const mk_tensor index = p.indices({2, 0}), rows = p.unwritten(2, 2);
  p.op = ops::softmax_loss(logits, label, index, 2, rows, p.unwritten(2, 2));
  const Values loss = output_of(machine, p), grad = output_of(machine, p, 1);
  const Values want_loss{std::log(4.0 / 3), 1, std::log(4.0), 0}, want_grad{0.5, -0.5, -1.5, 1.5};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(loss[i], want_loss[i], 1e-5) << i;  // 100 + ln 3 is rounded to 2^-17
    EXPECT_NEAR(grad[i], want_grad[i], 1e-5) << i;
  }
}

void softmax_hits_are_the_first_largest(Machine& machine) {
  Problem p;
  const mk_tensor logits = tensor(p, 3, {5, 5, 5, 5, 5, 5, 1, kNan, 9}), label = p.indices({0, 1, 2});
  const mk_tensor index = p.indices({0, 1, 2});
  p.op = ops::softmax_loss(logits, label, index, 1, p.unwritten(3, 2), {});
  const Values rows = output_of(machine, p);
  EXPECT_NEAR(rows[0], std::log(3.0), 1e-6);
  EXPECT_EQ(rows[1], 1);
  EXPECT_NEAR(rows[2], std::log(3.0), 1e-6);
  EXPECT_EQ(rows[3], 0);
  EXPECT_TRUE(std::isnan(rows[4]));
  EXPECT_EQ(rows[5], 0);
}

void squared_loss_by_hand(Machine& machine) {
  Problem p;
  const mk_tensor prediction = tensor(p, 2, {1, 2, 3, 3}), target = tensor(p, 2, {0, 1, 1, 4});
  const mk_tensor index = p.indices({1, 0}), rows = p.unwritten(2, 2);
  p.op = ops::squared_loss(prediction, target, index, 0.5, rows, p.unwritten(2, 2));
  EXPECT_EQ(output_of(machine, p), (Values{2, 0, 6.5, 0}));
  EXPECT_EQ(output_of(machine, p, 1), (Values{0, -1, 1.5, 1}));
}

// Returns the weight and the states after steps from weight 1 with these gradients.
Values after(Machine& machine, const ops::OptimizerSettings& settings, const std::vector<float>& gradients) {
  Values now{1, 0, 0};
  for (size_t t = 1; t <= gradients.size(); ++t) {
    Problem p;
    const auto one = [&](double value) { return tensor(p, 1, {static_cast<float>(value)}); };
    const mk_tensor grad = one(static_cast<double>(gradients[t - 1])), weight = one(now[0]);
    const mk_tensor state = one(now[1]), state2 = one(now[2]);
    p.op = ops::optimizer_step(grad, weight, state, state2, settings, static_cast<int64_t>(t));
    for (uint32_t o = 0; o < p.op.n_outputs; ++o) now[o] = output_of(machine, p, o)[0];
  }
  return now;
}

void optimizers_by_hand(Machine& machine) {
  using Kind = ops::Optimizer;
  const auto expect = [&](const char* what, const ops::OptimizerSettings& settings, const std::vector<float>& gradients,
                          const Values& want) { expect_near(after(machine, settings, gradients), want, what); };
  expect("sgd", {Kind::sgd, 0.1, 0, 0, 0, 0}, {2, 1}, {0.7, 0, 0});
  expect("decay", {Kind::sgd, 0.1, 0.5, 0, 0, 0}, {2, 1}, {0.6125, 0, 0});  // 1 - 0.25, then - 0.1 * 1.375
  expect("momentum", {Kind::sgd, 0.1, 0, 0.9, 0, 0}, {2, 1}, {0.52, 2.8, 0});
  // First s = 0.2 and u = 0.004. Then s = 0.28, u = 0.004996, and the step is 0.1 * (0.28 / 0.19) / sqrt(u / 0.001999).
  expect("adam 1", {Kind::adam, 0.1, 0, 0.9, 0.999, 1e-8}, {2}, {0.9, 0.2, 0.004});
  expect("adam 2", {Kind::adam, 0.1, 0, 0.9, 0.999, 1e-8}, {2, 1}, {0.8067820, 0.28, 0.004996});
  // First s = 0.4 and d = 2 / sqrt(0.4), then s = 0.46 and d = 1 / sqrt(0.46).
  expect("rmsprop", {Kind::rmsprop, 0.1, 0, 0.9, 0, 1e-8}, {2, 1}, {0.5363303, 0.46, 0});
  expect("rmsprop momentum", {Kind::rmsprop, 0.1, 0, 0.9, 0.5, 1e-8}, {2, 1}, {0.3782164, 0.46, 3.0555584});
  // First d = 0.002 / sqrt(0.400001), then u = 0.1 d^2 and d = sqrt(u + 1e-6) / sqrt(0.460001).
  expect("adadelta 1", {Kind::adadelta, 1, 0, 0.9, 0, 1e-6}, {2}, {0.9968377, 0.4, 1e-6});
  expect("adadelta 2", {Kind::adadelta, 1, 0, 0.9, 0, 1e-6}, {2, 1}, {0.9947526, 0.46, 1.33e-6});
  expect("eps", {Kind::adam, 0.1, 0, 0.9, 0.999, 2}, {2}, {0.95, 0.2, 0.004});  // 0.1 * 2 / (2 + 2)
}

}  // namespace

void add_network_oracle_tests(Machine& machine) {
  const auto add = [&machine](const char* name, void (*body)(Machine&)) {
    add_test("oracle", name, [&machine, body] { body(machine); });
  };
  add("conv2d_by_hand", conv2d_by_hand);
  add("conv2d_gradients_by_hand", conv2d_gradients_by_hand);
  add("conv2d_gradients_are_its_transposes", conv2d_gradients_are_its_transposes);
  add("max_pool_by_hand", max_pool_by_hand);
  add("max_pool_grad_by_hand", max_pool_grad_by_hand);
  add("avg_pool_by_hand", avg_pool_by_hand);
  add("avg_pool_grad_by_hand", avg_pool_grad_by_hand);
  add("avg_pool_grad_is_the_transpose", avg_pool_grad_is_the_transpose);
  add("activations_by_hand", activations_by_hand);
  add("act_grad_by_hand", act_grad_by_hand);
  add("dropout_by_hand", dropout_by_hand);
  add("dropout_by_definition", dropout_by_definition);
  add("affine_by_hand", affine_by_hand);
  add("softmax_loss_by_hand", softmax_loss_by_hand);
  add("softmax_hits_are_the_first_largest", softmax_hits_are_the_first_largest);
  add("squared_loss_by_hand", squared_loss_by_hand);
  add("optimizers_by_hand", optimizers_by_hand);
}

}  // namespace mokume::conformance
