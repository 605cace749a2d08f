// Compares the oracle's activations, losses and optimizers with PyTorch's numbers, in double.
#include <cmath>

#include "problem.hpp"
#include "suite.hpp"

namespace mokume::conformance {
namespace {

using Values = std::vector<double>;
using ops::Activation;

Values output_of(Machine& machine, const Problem& p, uint32_t output = 0) {
  return values_of(p.op.outputs[output], run(machine.oracle(), p));
}

mk_tensor tensor(Problem& p, int64_t rows, const std::vector<float>& values) {
  const int64_t columns = static_cast<int64_t>(values.size()) / rows;
  return p.floats(rows, columns, {},
                  [&](int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; });
}

void expect_near(const Values& got, const Values& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-7 * (1 + std::fabs(want[i]))) << what << i;
}

void activations_like_pytorch(Machine& machine) {
  struct One {
    Activation activation;
    Values out, gradient;
  };
  const std::vector<float> x = {-3, -1, -0.5F, 0, 0.5F, 2}, grad = {1, 2, -1, 1, 3, 0.5F};
  const One all[] = {
      {Activation::leaky_relu, {-0.75, -0.25, -0.125, 0, 0.5, 2}, {0.25, 0.5, -0.25, 0.25, 3, 0.5}},
      {Activation::gelu,
       {-0.00404969409, -0.158655254, -0.154268769, 0, 0.345731231, 1.95449974},
       {-0.0119456472, -0.166630941, -0.132504875, 0.5, 2.60248537, 0.542615901}},
      {Activation::gelu_tanh,
       {-0.00363739208, -0.158808009, -0.15428599, 0, 0.34571401, 1.95459769},
       {-0.0115841666, -0.165928168, -0.132630096, 0.5, 2.60210971, 0.543049628}},
      {Activation::silu,
       {-0.14227762, -0.268941421, -0.188770334, 0, 0.311229666, 1.76159416},
       {-0.088104106, 0.144658976, -0.260038813, 0.5, 2.21988356, 0.545392124}},
      {Activation::tanh,
       {-0.995054754, -0.761594156, -0.462117157, 0, 0.462117157, 0.96402758},
       {0.00986603717, 0.839948683, -0.786447733, 1, 2.3593432, 0.0353254124}},
      {Activation::sigmoid,
       {0.0474258732, 0.268941421, 0.377540669, 0.5, 0.622459331, 0.880797078},
       {0.0451766597, 0.393223866, -0.235003712, 0.25, 0.705011137, 0.0524967927}},
      {Activation::hard_sigmoid,
       {0, 0.333333333, 0.416666667, 0.5, 0.583333333, 0.833333333},
       {0, 0.333333333, -0.166666667, 0.166666667, 0.5, 0.0833333333}},
      {Activation::hard_swish,
       {0, -0.333333333, -0.208333333, 0, 0.291666667, 1.66666667},
       {0, 0.333333333, -0.333333333, 0.5, 2, 0.583333333}},
  };
  for (const One& one : all) {
    const std::string name = std::to_string(static_cast<int64_t>(one.activation)) + " at ";
    Problem p;
    p.op = ops::bias_act(tensor(p, 1, x), {}, one.activation, p.unwritten(1, 6), 0.25);
    const Values out = output_of(machine, p);
    expect_near(out, one.out, name);
    Problem q;
    const mk_tensor y = tensor(q, 1, ops::takes_input(one.activation) ? x : std::vector<float>(out.begin(), out.end()));
    q.op = ops::act_grad(tensor(q, 1, grad), y, one.activation, q.unwritten(1, 6), 0.25);
    expect_near(output_of(machine, q), one.gradient, name);
  }
}

void softmax_losses_like_pytorch(Machine& machine) {
  const auto expect = [&](const char* what, const ops::SoftmaxForm& form, bool weighted, const Values& loss,
                          const Values& gradient) {
    Problem p;
    const mk_tensor logits = tensor(p, 2, {0.5F, -1, 2, 1, 3, 0}), label = p.indices({1, 0, 7});
    const mk_tensor index = p.indices({1, 0}), weight = weighted ? tensor(p, 1, {0.5F, 2, 9}) : mk_tensor{};
    p.op = ops::softmax_loss(logits, label, index, 1, p.unwritten(2, 2), p.unwritten(2, 3), weight, form);
    expect_near(output_of(machine, p), {loss[0], 0, loss[1], 1}, what);
    expect_near(output_of(machine, p, 1), gradient, what);
  };
  expect("smoothing ", {0.3, 0}, false, {1.7413113, 0.66984602},
         {-0.624709608, -0.0608874267, 0.685597035, 0.0141951994, 0.0437947345, -0.0579899339});
  expect("weights ", {}, true, {3.48262259, 0.0849230098},
         {-1.64941922, 0.0782251465, 1.57119407, 0.0570975997, -0.0781026328, 0.0210050331});
  expect("focal ", {0, 2}, false, {1.1843458, 0.00414425731},
         {-0.97613177, 0.0462939015, 0.929837869, 0.00789925371, -0.0108052267, 0.00290597304});
}

void distances_like_pytorch(Machine& machine) {
  const auto expect = [&](const char* what, const ops::DistanceForm& form, double weight, const Values& loss,
                          const Values& gradient) {
    Problem p;
    const mk_tensor prediction = tensor(p, 2, {0.5F, -2, 3, 1}), target = tensor(p, 2, {0, 0, 0, 1});
    const mk_tensor index = p.indices({0, 1}), weights = tensor(p, 1, {1, static_cast<float>(weight)});
    p.op = ops::squared_loss(prediction, target, index, 1, p.unwritten(2, 2), p.unwritten(2, 2), weights, form);
    expect_near(output_of(machine, p), {loss[0], 4.25 / 2, weight * loss[1], 4.5}, what);
    expect_near(output_of(machine, p, 1), {gradient[0], gradient[1], weight * gradient[2], weight * gradient[3]}, what);
  };
  expect("huber ", {ops::Distance::huber, 1.5}, 1, {1, 1.6875}, {0.25, -0.75, 0.75, 0});
  expect("smooth_l1 ", {ops::Distance::smooth_l1, 1.5}, 3, {0.666666667, 1.125}, {0.166666667, -0.5, 0.5, 0});
  expect("l1 ", {ops::Distance::smooth_l1, 0}, 1, {1.25, 1.5}, {0.5, -0.5, 0.5, 0});
  expect("squared ", {}, 0.5, {4.25 / 2, 4.5}, {0.5, -2, 3, 0});
}

// Returns the weight after steps from 1 with these gradients.
double after(Machine& machine, const ops::OptimizerSettings& settings, const std::vector<float>& gradients) {
  Values now{1, 0, 0, 0};
  for (size_t t = 1; t <= gradients.size(); ++t) {
    Problem p;
    const auto one = [&](double value) { return tensor(p, 1, {static_cast<float>(value)}); };
    const mk_tensor grad = one(static_cast<double>(gradients[t - 1])), weight = one(now[0]);
    const mk_tensor state = one(now[1]), state2 = one(now[2]), state3 = one(now[3]);
    const mk_tensor norm2 = one(static_cast<double>(gradients[t - 1] * gradients[t - 1]));
    p.op = ops::optimizer_step(grad, weight, state, state2, settings, static_cast<int64_t>(t), norm2, state3);
    for (uint32_t o = 0; o < p.op.n_outputs; ++o) now[o] = output_of(machine, p, o)[0];
  }
  return now[0];
}

void optimizers_like_pytorch(Machine& machine) {
  using Kind = ops::Optimizer;
  EXPECT_NEAR(after(machine, {Kind::sgd, 0.1, 0, 0.9, 0, 0, true}, {2, 1}), 0.268, 1e-6);
  EXPECT_NEAR(after(machine, {Kind::sgd, 0.1, 0, 0.9, 0.5, 0}, {2, 1}), 0.57, 1e-6);
  EXPECT_NEAR(after(machine, {Kind::adamw, 0.1, 0.5, 0.9, 0.999, 1e-8}, {2, 1}), 0.7142820372, 1e-6);
  EXPECT_NEAR(after(machine, {Kind::sgd, 0.1, 0, 0, 0, 0, false, 0.5}, {2, 0.25F}), 0.925000025, 1e-7);
  const std::vector<float> falling{2, 0.5F, 0.25F};
  EXPECT_NEAR(after(machine, {Kind::adam, 0.1, 0, 0.9, 0.5, 1e-8}, falling), 0.6972357331, 1e-6);
  EXPECT_NEAR(after(machine, {Kind::adam, 0.1, 0, 0.9, 0.5, 1e-8, false, 0, true}, falling), 0.7692457707, 1e-6);
  EXPECT_NEAR(after(machine, {Kind::adamw, 0.1, 0.5, 0.9, 0.5, 1e-8, false, 0, true}, falling), 0.6400772353, 1e-6);
}

void softmax_like_pytorch(Machine& machine) {
  Problem p;
  p.op = ops::softmax(tensor(p, 1, {0.5F, -2, 3, 1}), p.unwritten(1, 4));
  expect_near(output_of(machine, p), {0.06705423914, 0.005504147128, 0.8168878634, 0.1105537504}, "softmax ");
  Problem back;
  const mk_tensor y = tensor(back, 1, {0.06705423914F, 0.005504147128F, 0.8168878634F, 0.1105537504F});
  back.op = ops::softmax_grad(tensor(back, 1, {1, 2, -1, 0.5F}), y, back.unwritten(1, 4));
  expect_near(output_of(machine, back), {0.1128890607, 0.01477064552, -0.2585054266, 0.1308457204}, "gradient ");
}

// Gathers rows 2, 0 and 0, and columns 1, 0 and 1, of an image of 3 x 2 pixels with 2 channels.
void pixels_by_hand(Machine& machine) {
  Problem p;
  const mk_tensor x = tensor(p, 1, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60});
  const mk_tensor row = p.indices({2, 0, 0}), column = p.indices({1, 0, 1});
  p.op = ops::gather_pixels(x, row, column, {3, 2, 2, 3, 3}, p.unwritten(1, 18));
  EXPECT_EQ(output_of(machine, p), (Values{6, 60, 5, 50, 6, 60, 2, 20, 1, 10, 2, 20, 2, 20, 1, 10, 2, 20}));
  p.op = ops::gather_pixels_grad(tensor(p, 1, {1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32, 64, 0, 128, 0, 256, 0}),
                                 row, column, {3, 2, 2, 3, 3}, p.unwritten(1, 12));
  EXPECT_EQ(output_of(machine, p), (Values{144, -16, 360, -40, 0, 0, 0, 0, 2, -2, 5, -5}));
}

}  // namespace

void add_option_oracle_tests(Machine& machine) {
  const auto add = [&machine](const char* name, void (*body)(Machine&)) {
    add_test("oracle", name, [&machine, body] { body(machine); });
  };
  add("activations_like_pytorch", activations_like_pytorch);
  add("softmax_losses_like_pytorch", softmax_losses_like_pytorch);
  add("distances_like_pytorch", distances_like_pytorch);
  add("optimizers_like_pytorch", optimizers_like_pytorch);
  add("softmax_like_pytorch", softmax_like_pytorch);
  add("pixels_by_hand", pixels_by_hand);
}

}  // namespace mokume::conformance
