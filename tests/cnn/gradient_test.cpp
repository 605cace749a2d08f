// Compares every layer's gradients with central differences, in the host backend's reference (double accumulation).
#include <cmath>

#include "harness.hpp"
#include "sdk/ops.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;

constexpr int64_t kGradientRows = 4;

struct Net {
  const char* name;
  Shape input;
  int64_t outputs;
  Loss loss;
  std::vector<LayerJson> layers;
  const char* freeze = "";
  int64_t codes = 0;  // columns of the input, from the second one on, that hold codes from 0 to 2
};

std::vector<Net> nets() {
  const Shape image{7, 6, 2, false}, row{1, 1, 9, true};
  const LayerJson conv = conv2d(3, 3, 1, 1, true);
  return {
      {"Linear", row, 4, Loss::cross_entropy, {linear(4, true)}},
      {"LinearWithoutBias", row, 4, Loss::cross_entropy, {linear(5, false), relu(), linear(4, false)}},
      {"Regression", row, 1, Loss::mse, {normalise(0.2, 1.5, false), linear(6, true), relu(), linear(1, true)}},
      {"Convolution", image, 3, Loss::cross_entropy, {conv, flatten(), linear(3, true)}},
      {"ConvolutionStride2",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(4, 2, 2, 1, false), relu(), conv2d(3, 3, 1, 0, true), flatten(), linear(3, true)}},
      {"ConvolutionOfEveryKind",
       image,
       3,
       Loss::cross_entropy,
       {with(conv2d(4, 3, 1, 2, true), {{"dilation", 2}, {"kernel_width", 2}, {"padding_width", 1}}),
        with(conv2d(6, 3, 2, 1, true), {{"groups", 2}, {"stride_width", 1}}),
        with(conv2d(6, 4, 1, 0, false), {{"groups", 6}, {"same", true}}),
        with(conv2d(12, 2, 1, 0, true), {{"groups", 6}}), flatten(), linear(3, true)}},
      {"TransposedConvolution",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(4, 3, 2, 1, true), conv_transpose2d(6, 3, 2, 1, 1, 2, true), conv_transpose2d(2, 2, 1, 0, 0, 1, false),
        conv_transpose2d(1, 2, 1, 1, 0, 1, true), flatten(), linear(3, true)}},
      {"WindowsOfPools",
       image,
       3,
       Loss::cross_entropy,
       {conv, with(max_pool2d(3, 2, 1), {{"kernel_width", 2}, {"stride_width", 3}, {"ceil_mode", true}}), conv,
        avg_pool2d(2, 0, 0, true, true), flatten(), linear(3, true)}},
      {"AvgPoolWithPadding",
       image,
       3,
       Loss::cross_entropy,
       {conv, avg_pool2d(3, 2, 1, true, true), avg_pool2d(2, 1, 1, false, false), flatten(), linear(3, true)}},
      {"MaxPool", image, 3, Loss::cross_entropy, {conv, max_pool2d(3, 2, 1), flatten(), linear(3, true)}},
      {"AvgPool", image, 3, Loss::cross_entropy, {conv, adaptive_avg_pool2d(4), flatten(), linear(3, true)}},
      {"Dropout",
       image,
       3,
       Loss::cross_entropy,
       {conv, relu(), dropout(0.4), flatten(), linear(8, true), relu(), dropout(0.5), linear(3, true), log_softmax()}},
      {"NormaliseBehindRelu",
       image,
       3,
       Loss::cross_entropy,
       {conv, relu(), normalise(0.4, 2, false), conv, relu(), dropout(0.3), normalise(-0.6, 0.5, false), flatten(),
        linear(6, true), relu(), normalise(0.2, 1, false), linear(3, true)}},
      {"ReluTwice",
       image,
       3,
       Loss::cross_entropy,
       {conv, relu(), relu(), max_pool2d(2, 1, 0), relu(), dropout(0.3), relu(), flatten(), linear(3, true)}},
      {"BatchNorm",
       image,
       3,
       Loss::cross_entropy,
       {conv, batch_norm(), conv2d(4, 2, 1, 0, false), batch_norm(), relu(), max_pool2d(2, 1, 0), flatten(),
        linear(5, false), batch_norm(), relu(), linear(3, true)}},
      {"BatchNormOfTheInput", image, 3, Loss::cross_entropy, {batch_norm(), flatten(), batch_norm(), linear(3, true)}},
      {"LayerNorm",
       image,
       3,
       Loss::cross_entropy,
       {conv, layer_norm(), flatten(), linear(7, true), layer_norm(), relu(), linear(3, true)}},
      {"GroupNorm",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(6, 3, 1, 1, true), group_norm(3), relu(), conv, group_norm(3), flatten(), linear(3, true)}},
      {"GroupNormOfTheInput", image, 3, Loss::cross_entropy, {group_norm(1), flatten(), linear(3, true)}},
      {"LocalResponseNorm",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(6, 3, 1, 1, true), plain("tanh"), lrn(5, 0.5, 0.75, 1), conv, lrn(2, 0.5, 1, 1), flatten(),
        linear(3, true)}},
      {"LocalResponseNormOfTheInput", image, 3, Loss::cross_entropy, {lrn(3, 1, 1, 2), flatten(), linear(3, true)}},
      {"Embedding",
       row,
       3,
       Loss::cross_entropy,
       {with(embedding(3, 4), {{"first", 1}, {"columns", 5}}), linear(6, true), relu(), linear(3, true)},
       "",
       5},
      {"EmbeddingOfTheLastColumns",
       row,
       1,
       Loss::mse,
       {with(embedding(4, 2), {{"first", 1}}), called("a", linear(4, true)), plain("tanh"), linear(1, true)},
       "",
       8},
      {"Residual",
       image,
       3,
       Loss::cross_entropy,
       {called("stem", conv), conv, batch_norm(), relu(), conv, called("main", batch_norm()),
        reading({"main", "stem"}, add()), relu(), called("body", conv), reading({"body", "stem"}, add()), flatten(),
        linear(3, true)}},
      {"TheSameTwice",
       image,
       3,
       Loss::cross_entropy,
       {called("a", conv), reading({"a", "a"}, add()), called("b", relu()), reading({"a", "b"}, add()), flatten(),
        linear(3, true)}},
      {"Branches",
       image,
       3,
       Loss::cross_entropy,
       {called("a", conv), called("b", reading({"input"}, conv2d(2, 3, 1, 1, true))),
        called("c", reading({"a"}, normalise(0.1, 2, false))), reading({"a", "input", "b", "c"}, concat()),
        conv2d(2, 3, 2, 1, true), flatten(), linear(3, true)}},
      {"RelusInBranches",
       image,
       3,
       Loss::cross_entropy,
       {conv, called("a", relu()), reading({"input"}, conv), called("b", relu()),
        called("c", reading({"a"}, max_pool2d(3, 1, 1))), reading({"b", "c"}, concat()), flatten(), linear(3, true)}},
      {"SkipAroundDropout",
       image,
       3,
       Loss::cross_entropy,
       {conv, called("a", relu()), called("b", dropout(0.3)), reading({"a", "b"}, add()), dropout(0.2), relu(),
        flatten(), called("rows", linear(7, true)), relu(), called("left", linear(4, true)),
        called("right", reading({"rows"}, linear(5, true))), reading({"left", "right"}, concat()), linear(3, true)}},
      {"Softmax",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(4, 3, 1, 1, true), plain("softmax"), conv, relu(), plain("softmax"), flatten(), linear(6, true),
        plain("softmax"), linear(3, true), plain("softmax")}},
      {"PaddingModes",
       image,
       3,
       Loss::cross_entropy,
       {with(conv, {{"padding_mode", "reflect"}}),
        with(conv2d(4, 3, 2, 2, false), {{"padding_mode", "replicate"}, {"padding_width", 0}}), relu(),
        with(conv2d(4, 4, 1, 0, true), {{"padding_mode", "circular"}, {"same", true}, {"groups", 2}}), flatten(),
        linear(3, true)}},
      {"PaddingOfTheInput",
       image,
       3,
       Loss::cross_entropy,
       {with(conv, {{"padding_mode", "circular"}}), flatten(), linear(3, true)}},
      {"AdaptiveMaxPool",
       image,
       3,
       Loss::cross_entropy,
       {conv, with(adaptive_avg_pool2d(4), {{"type", "adaptive_max_pool2d"}}), conv2d(3, 3, 1, 1, true),
        with(adaptive_avg_pool2d(2), {{"type", "adaptive_max_pool2d"}}), flatten(), linear(3, true)}},
      {"LeakyRelu",
       image,
       3,
       Loss::cross_entropy,
       {conv, leaky_relu(0.2), normalise(0.4, 2, false), conv, leaky_relu(0), dropout(0.3), flatten(),
        linear(3, true)}},
      {"Gelu",
       image,
       3,
       Loss::cross_entropy,
       {conv, gelu("none"), normalise(0.1, 1.5, false), conv, relu(), gelu("tanh"), flatten(), linear(6, true),
        gelu("none"), linear(3, true)}},
      {"SiluTanhSigmoid",
       image,
       3,
       Loss::cross_entropy,
       {conv, plain("silu"), dropout(0.25), conv2d(4, 3, 2, 1, true), plain("tanh"), relu(), flatten(), linear(8, true),
        plain("sigmoid"), linear(3, true)}},
      {"HardSigmoidHardSwish",
       image,
       3,
       Loss::cross_entropy,
       {conv, plain("hard_swish"), conv2d(4, 3, 2, 1, true), plain("hard_sigmoid"), relu(), flatten(), linear(8, true),
        plain("hard_swish"), linear(3, true)}},
      {"SqueezeAndExcite",
       image,
       3,
       Loss::cross_entropy,
       {called("x", conv), adaptive_avg_pool2d(1), conv2d(2, 1, 1, 0, true), relu(), conv2d(3, 1, 1, 0, true),
        called("factor", plain("hard_sigmoid")), reading({"x", "factor"}, plain("multiply")), conv, flatten(),
        linear(3, true)}},
      // The factor comes first or is a row of features, and each part of a product has other readers, too.
      {"ProductsOfEveryKind",
       image,
       3,
       Loss::cross_entropy,
       {called("x", conv), relu(), adaptive_avg_pool2d(1), flatten(), called("row", linear(3, true)),
        called("scaled", reading({"row", "x"}, plain("multiply"))),
        called("square", reading({"scaled", "scaled"}, plain("multiply"))),
        called("gate", reading({"x"}, plain("sigmoid"))),
        called("gated", reading({"square", "gate"}, plain("multiply"))),
        called("rest", reading({"input"}, conv2d(3, 1, 1, 0, true))), reading({"gated", "rest"}, plain("multiply")),
        relu(), flatten(), called("y", linear(3, true)), called("t", plain("tanh")),
        reading({"t", "y"}, plain("multiply")), linear(3, true)}},
      {"ChannelShuffle",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(6, 3, 1, 1, true),
        {{"type", "channel_shuffle"}, {"groups", 2}},
        with(conv2d(6, 3, 1, 0, true), {{"groups", 3}}),
        relu(),
        {{"type", "channel_shuffle"}, {"groups", 3}},
        flatten(),
        linear(3, true)}},
      // Each activation must not overwrite the output or the input of the activation before it.
      {"ActivationsInARow",
       image,
       3,
       Loss::cross_entropy,
       {conv2d(4, 3, 2, 0, true), relu(), plain("tanh"), leaky_relu(0.3), dropout(0.2), plain("silu"), plain("sigmoid"),
        plain("tanh"), normalise(0.3, 0.2, false), gelu("none"), flatten(), linear(3, true)}},
      // The gradient passes through frozen layers to earlier layers.
      {"FrozenLayers",
       image,
       3,
       Loss::cross_entropy,
       {conv, batch_norm(), relu(), conv, batch_norm(), normalise(0.4, 2, false), batch_norm(), conv, group_norm(3),
        flatten(), layer_norm(), linear(6, true), relu(), linear(3, true)},
       "1,3,4,8,10,11"},
      {"ReluBehindPool",
       image,
       3,
       Loss::cross_entropy,
       {conv, max_pool2d(2, 2, 0), relu(), conv2d(4, 2, 1, 0, true), normalise(0.1, 2, false), flatten(),
        linear(3, true)}},
  };
}

class Gradients : public testing::TestWithParam<Net> {};
INSTANTIATE_TEST_SUITE_P(Nets, Gradients, testing::ValuesIn(nets()), [](const auto& i) { return i.param.name; });

TEST_P(Gradients, MatchCentralDifferences) {
  const World world("host", 1);
  ASSERT_TRUE(world.present());
  const sdk::Device device = world.device();
  Settings settings;
  settings.layers = layers(GetParam().layers);
  settings.loss = GetParam().loss;
  settings.freeze = GetParam().freeze;
  const Network network = make_network(settings, GetParam().input, GetParam().outputs);
  const Engine engine(device, network, kGradientRows, true);
  const auto features = static_cast<size_t>(network.input.elements());
  std::vector<float> x = random_floats(kGradientRows * features, 1, -2, 2);
  for (int64_t r = 0; r < kGradientRows; ++r)
    for (int64_t c = 1; c <= GetParam().codes; ++c) x[r * features + c] = static_cast<float>((r * 7 + c * 5) / 2 % 3);
  std::vector<float> weights = random_floats(static_cast<size_t>(network.n_parameters), 2, -0.5F, 0.5F);
  for (const Parameter& p : network.parameters)  // frozen layers use their running moments
    if (p.name.ends_with(".running_var")) std::fill_n(weights.begin() + p.offset, p.size(), 0.7F);
  const sdk::Buffer labels = device.upload(std::vector<int32_t>{2, 0, 1, 2});
  const sdk::Buffer targets = device.upload(std::vector<float>{0.5F, -1, 2, 0.25F});
  const sdk::Buffer index = device.upload(std::vector<int32_t>{0, 1, 2, 3});
  const sdk::Buffer results = device.buffer<float>(2 * kGradientRows);
  const ops::DropoutPlace place{77, 0, 3, 0};

  // Returns the sum of the loss over the rows. Computes the gradient if requested.
  const auto evaluate = [&](bool with_gradient) {
    engine.parameters().write(0, weights);
    engine.write_input(x.data(), kGradientRows);
    const mk_tensor out = engine.forward(kGradientRows, &place), rows = sdk::matrix(results.get(), kGradientRows, 2);
    const mk_tensor which = sdk::vector(index.get(), kGradientRows, 0, MK_I32);
    const mk_tensor gradient = with_gradient ? engine.output_gradient(kGradientRows) : mk_tensor{};
    const mk_tensor target = settings.loss == Loss::mse ? sdk::matrix(targets.get(), kGradientRows, 1)
                                                        : sdk::vector(labels.get(), kGradientRows, 0, MK_I32);
    device.submit(loss_op(settings.loss, out, target, which, 1, rows, gradient));
    if (with_gradient) engine.backward(kGradientRows, place);
    std::vector<float> r(2 * kGradientRows);
    device.read(results, r.data(), r.size());
    double sum = 0;
    for (size_t k = 0; k < r.size(); k += 2) sum += static_cast<double>(r[k]);
    return sum;
  };

  evaluate(true);
  const std::vector<float> gradient = engine.gradients().all();
  double largest = 0;
  for (const float g : gradient) largest = std::max(largest, std::fabs(static_cast<double>(g)));
  ASSERT_GT(largest, 0.01);
  const double middle = evaluate(false);
  // Returns the central difference, and the difference of the slopes above and below.
  const auto slope = [&](size_t i, float step) {
    const float kept = weights[i];
    weights[i] = kept + step;
    const double above = evaluate(false), from = static_cast<double>(weights[i]);
    weights[i] = kept - step;
    const double below = evaluate(false), to = static_cast<double>(weights[i]);
    weights[i] = kept;
    return std::pair((above - below) / (from - to), 2 * (above - 2 * middle + below) / (from - to));
  };
  std::vector<bool> learned(weights.size(), true);
  for (const Parameter& p : network.parameters)
    if (!p.learned() || p.frozen) std::fill_n(learned.begin() + p.offset, p.size(), false);
  int kinks = 0;  // counts elements without a slope, where a relu or a pool changes within the step
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!learned[i]) continue;
    const auto [wide, wide_bend] = slope(i, 0.01F);
    const auto [narrow, bend] = slope(i, 0.005F);
    // The bend of a smooth function halves with the step, but the bend of a kink in the middle does not.
    const bool kink = std::fabs(bend) > 2e-3 * largest && std::fabs(bend) > 0.75 * std::fabs(wide_bend);
    if (kink || std::fabs(wide - narrow) > 2e-3 * largest)
      ++kinks;
    else
      EXPECT_NEAR(static_cast<double>(gradient[i]), narrow, 4e-3 * largest) << "parameter " << i;
  }
  EXPECT_LE(kinks, static_cast<int>(weights.size()) / 8);
}

}  // namespace
}  // namespace mokume::cnn_test
