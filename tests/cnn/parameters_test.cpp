// Tests the segments of parameters: where they are cut, and that cutting does not change the bits of training.
#include "network/parameters.hpp"

#include "harness.hpp"
#include "sdk/ops.hpp"
#include "train/training.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;

constexpr int64_t kClasses = 3;

// The large weight has 1452 inputs (3 filters on 24 x 24) and 70 outputs, between a convolution and a small layer.
Network network_of(const Settings& settings) { return make_network(settings, {24, 24, 1, false}, kClasses); }

Settings settings_of(const ops::OptimizerSettings& optimizer, int64_t hidden = 70) {
  Settings s;
  s.layers =
      layers({conv2d(3, 3, 1, 0, true), relu(), flatten(), linear(hidden, true), relu(), linear(kClasses, true)});
  s.optimizer = optimizer;
  return s;
}

uint64_t bytes_of_rows(int64_t rows, int64_t hidden = 70) {
  return static_cast<uint64_t>(rows * hidden) * sizeof(float);
}

TEST(Segments, AreASingleOneIfEverythingFits) {
  const Network network = network_of(settings_of({}));
  const Segments whole(network.parameters, UINT64_MAX);
  ASSERT_EQ(whole.count(), 1U);
  EXPECT_EQ(whole.size(0), network.n_parameters);
  for (size_t p = 0; p < network.parameters.size(); ++p) {
    ASSERT_EQ(whole.extents()[p].size(), 1U);
    EXPECT_EQ(whole.extents()[p][0].at, network.parameters[p].offset);
  }
}

TEST(Segments, CutLinearWeightsAfterWholeBlocksOfRows) {
  const Network network = network_of(settings_of({}));
  const Segments cut(network.parameters, bytes_of_rows(700));
  const std::vector<Extent>& weight = cut.extents()[2];
  ASSERT_EQ(weight.size(), 3U);
  const int64_t first[] = {0, 512, 1024}, rows[] = {512, 512, 428};
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(weight[k].first_row, first[k]);
    EXPECT_EQ(weight[k].rows, rows[k]);
  }
  EXPECT_EQ(weight[1].segment, weight[0].segment + 1);
  int64_t total = 0;
  for (size_t s = 0; s < cut.count(); ++s) {
    EXPECT_LE(cut.size(s), 700 * 70);
    total += cut.size(s);
  }
  EXPECT_EQ(total, network.n_parameters);
  for (size_t k = 0; k < network.parameters.size(); ++k) EXPECT_EQ(cut.extents()[k].size(), k == 2 ? 3U : 1U) << k;
}

TEST(Segments, NameTheLayerThatIsTooLarge) {
  const auto message = [](uint64_t most) -> std::string {
    try {
      const Segments cut(network_of(settings_of({})).parameters, most);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_OUT_OF_MEMORY);
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(bytes_of_rows(512)), "");
  EXPECT_NE(message(bytes_of_rows(511)).find("layers[3] needs 143360 bytes"), std::string::npos) << message(1);
  EXPECT_NE(message(100).find("layers[0] needs 108 bytes"), std::string::npos) << message(100);
}

TEST(Segments, AreReadAndWrittenFromAnyElement) {
  const World world("host");
  const Network network = network_of(settings_of({}));
  StackMemory memory(world.device());
  const ParameterVector vector(world.device(), Segments(network.parameters, bytes_of_rows(700)), memory);
  const std::vector<float> values = random_floats(static_cast<size_t>(network.n_parameters), 4);
  for (size_t first = 0; first < values.size(); first += 999)
    vector.write(static_cast<int64_t>(first),
                 std::span(values).subspan(first, std::min<size_t>(999, values.size() - first)));
  EXPECT_TRUE(vector.all() == values);
  std::vector<float> middle(50000);
  vector.read(1234, middle);
  EXPECT_TRUE(std::equal(middle.begin(), middle.end(), values.begin() + 1234));
}

TEST(Segments, CanOmitALinearWeight) {
  const Network network = network_of(settings_of({}));
  const Segments whole(network.parameters, UINT64_MAX);
  const Segments rest(network.parameters, UINT64_MAX, std::array{2});
  EXPECT_EQ(rest.size(0), 27 + 3 + 70 + 70 * kClasses + 3);
  const std::vector<double> apart(network.parameters.size());
  const std::vector<CommonRun> runs = common_runs(whole, rest, whole, apart);
  ASSERT_EQ(runs.size(), 2U);  // the convolution with its bias, and everything after the large weight
  EXPECT_EQ(runs[0].size, 30);
  EXPECT_EQ(runs[1].weight.at, network.parameters[3].offset);
  EXPECT_EQ(runs[1].gradient.at, 30);
  EXPECT_EQ(runs[1].size, 70 + 70 * kClasses + 3);
  EXPECT_EQ(common_runs(whole, whole, whole, apart).size(), 1U);
}

class Cuts : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Cuts, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

// Returns parameters and states after some steps of an engine with these options.
std::vector<std::vector<float>> trained(const sdk::Device& device, const Settings& settings, int64_t batch,
                                        const EngineOptions& options) {
  const Network network = network_of(settings);
  const ops::OptimizerSettings& optimizer = settings.optimizer;
  const Engine engine(device, network, batch, true, optimizer, options);
  const std::vector<float> initial = all_initial_values(network, 3, 0);
  engine.parameters().write(0, initial);
  const std::vector<float> x = random_floats(static_cast<size_t>(batch * 24 * 24), 1);
  std::vector<int32_t> labels, order;
  for (int32_t r = 0; r < batch; ++r) labels.push_back(r * 7 % kClasses), order.push_back(r);
  const sdk::Buffer label = device.upload(labels), index = device.upload(order);
  const sdk::Buffer results = device.buffer<float>(static_cast<uint64_t>(2 * batch));
  const ops::DropoutPlace place{};
  for (int64_t t = 1; t <= 4; ++t) {
    const int64_t rows = t == 3 ? std::max<int64_t>(1, batch / 2) : batch;  // the last batch is smaller
    engine.write_input(x.data(), rows);
    const mk_tensor out = engine.forward(rows, &place);
    device.submit(ops::softmax_loss(out, sdk::vector(label.get(), batch, 0, MK_I32),
                                    sdk::vector(index.get(), rows, 0, MK_I32), 1.0 / static_cast<double>(rows),
                                    sdk::matrix(results.get(), rows, 2), engine.output_gradient(rows)));
    engine.train_back(rows, place, optimizer, t);
    engine.step(optimizer, t);
  }
  std::vector<std::vector<float>> all{engine.parameters().all()};
  for (const ParameterVector& state : engine.states()) all.push_back(state.all());
  EXPECT_NE(all[0], initial);
  return all;
}

void expect_near(const std::vector<std::vector<float>>& expected, const std::vector<std::vector<float>>& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (size_t v = 0; v < expected.size(); ++v) {
    ASSERT_EQ(expected[v].size(), got[v].size());
    double difference = 0, size = 0;
    for (size_t i = 0; i < expected[v].size(); ++i) {
      difference = std::max(difference, std::fabs(static_cast<double>(expected[v][i]) - got[v][i]));
      size = std::max(size, std::fabs(static_cast<double>(expected[v][i])));
    }
    EXPECT_LE(difference, 1e-5 * size) << "vector " << v;
  }
}

TEST_P(Cuts, ChangeNoBitOfATraining) {
  const World world(GetParam());
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const ops::OptimizerSettings kinds[] = {{ops::Optimizer::sgd, 0.05, 1e-3, 0.9, 0, 0},
                                          {ops::Optimizer::sgd, 0.05, 0, 0, 0, 0},
                                          {ops::Optimizer::adam, 0.01, 0, 0.9, 0.999, 1e-8}};
  for (const ops::OptimizerSettings& optimizer : kinds)
    for (const auto& [batch, hidden] : {std::pair<int64_t, int64_t>{1, 70}, {10, 70}, {80, 70}, {1, 1}, {10, 1}})
      for (const bool gradients : {true, false}) {
        const Settings settings = settings_of(optimizer, hidden);
        const auto whole = trained(world.device(), settings, batch, {gradients});
        for (const uint64_t most : {bytes_of_rows(1100, hidden), bytes_of_rows(512, hidden)})
          EXPECT_TRUE(trained(world.device(), settings, batch, {gradients, most}) == whole)
              << "optimizer " << static_cast<int>(optimizer.kind) << ", batch " << batch << ", " << hidden
              << " hidden, gradients " << gradients << ", segments of " << most;
        if (gradients) continue;
        const auto apart = trained(world.device(), settings, batch, {});
        // OpenCL's fused steps sum the input gradient in another order, so earlier layers change slightly.
        const bool other_order =
            GetParam() == std::string("opencl") && ops::has_linear_update(optimizer, batch) && hidden > 1;
        if (other_order) {
          expect_near(apart, whole);
        } else {
          EXPECT_TRUE(apart == whole) << "fused, batch " << batch << ", " << hidden << " hidden";
        }
      }
}

// The networks have different ops between layers that take their steps in the backward pass. Some networks have other
// readers of a relu's output.
TEST_P(Cuts, TakeTheSameStepsInTheBackwardPass) {
  const World world(GetParam());
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const LayerJson conv = conv2d(3, 3, 2, 0, true);
  const LayerJson wide = linear(40, true), last = linear(kClasses, true);
  const std::vector<LayerJson> nets[] = {
      {conv, relu(), relu(), flatten(), wide, relu(), relu(), wide, relu(), last},
      {conv, max_pool2d(2, 2, 0), relu(), dropout(0.3), relu(), flatten(), wide, last},
      {conv, relu(), normalise(0.3, 2, false), flatten(), wide, relu(), normalise(0.1, 0.5, false), wide, last},
      {flatten(), wide, relu(), dropout(0.5), relu(), wide, dropout(0.2), relu(), wide, relu(), last}};
  for (const std::vector<LayerJson>& net : nets)
    for (const double momentum : {0.0, 0.9}) {
      Settings settings;
      settings.layers = layers(net);
      settings.optimizer = {ops::Optimizer::sgd, 0.05, 1e-3, momentum, 0, 0};
      SCOPED_TRACE(&net - nets);
      expect_near(trained(world.device(), settings, 10, {}), trained(world.device(), settings, 10, {false}));
    }
}

TEST(Engines, ReportThatTheyHaveNoGradients) {
  const World world("host");
  const ops::OptimizerSettings sgd{ops::Optimizer::sgd, 0.1, 0, 0.9, 0, 0}, adam{ops::Optimizer::adam, 0.1};
  const Network network = network_of(settings_of(sgd));
  const Engine engine(world.device(), network, 4, true, sgd, {false});
  EXPECT_THROW(engine.backward(4, {}), Error);
  const auto weights = static_cast<uint64_t>(1452 * 70);
  EXPECT_EQ(Engine::bytes(network, 4, true, sgd) - Engine::bytes(network, 4, true, sgd, {false}), 4 * weights);
  EXPECT_EQ(Engine::bytes(network, 4, true, adam), Engine::bytes(network, 4, true, adam, {false}));
  const int64_t many = ops::kLinearUpdateRows + 1;
  EXPECT_EQ(Engine::bytes(network, many, true, sgd), Engine::bytes(network, many, true, sgd, {false}));
}

}  // namespace
}  // namespace mokume::cnn_test
