// Tests that a network answers a few rows in one launch on a CPU's OpenCL device, with the bits of separate launches.
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "cnn/harness.hpp"
#include "cnn/networks.hpp"
#include "predictions/counted.hpp"

namespace mokume::cnn_test {
namespace {

using cnn::Engine;
using cnn::Network;
using cnn::Settings;
using test::Commands;

constexpr cnn::Shape kImage{28, 28, 1, false};

// A residual block with strides, norms and an average. Its convolutions are of different kinds.
std::string residual_layers() {
  const auto conv = [](int64_t channels, int64_t kernel, int64_t stride) {
    return conv2d(channels, kernel, stride, kernel / 2, false);
  };
  return layers({conv(16, 3, 1), batch_norm(), called("start", relu()), conv(32, 3, 2), batch_norm(), relu(),
                 conv(32, 3, 1), called("way", batch_norm()), reading({"start"}, conv(32, 1, 2)),
                 called("around", batch_norm()), reading({"way", "around"}, add()), relu(), adaptive_avg_pool2d(1),
                 flatten(), linear(10, true)});
}

Network network_of(const std::string& name) {
  Settings settings = cnn::settings_of(name == "residual" ? "guide" : name);
  if (name == "residual") settings.layers = residual_layers();
  return make_network(settings, kImage, 10);
}

class Predictions : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int64_t kRows = 5;

  void open(const char* sequence) {
    // Forces all choices, because a measurement on a busy machine may choose kernels that no sequence holds.
    world_ = std::make_unique<World>(
        "opencl", 0,
        device::Choices{{"gemm", "vector"}, {"conv", "winograd"}, {"map", "vector"}, {"sequence", sequence}});
    if (!world_->present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
    const std::string_view name = world_->device().info().name;
    if (!name.starts_with("pthread") && !name.starts_with("cpu")) GTEST_SKIP() << name << " is no CPU of PoCL";
  }

  std::vector<float> predicted(Engine& engine, const float* x, int64_t rows) const {
    std::vector<float> y(static_cast<size_t>(rows * engine.output_elements()));
    engine.write_input(x, rows);
    engine.read(engine.predict(rows), y.data());
    return y;
  }
  std::vector<float> one_by_one(const Engine& engine, const float* x, int64_t rows) const {
    std::vector<float> y(static_cast<size_t>(rows * engine.output_elements()));
    engine.write_input(x, rows);
    engine.read(engine.forward(rows, nullptr), y.data());
    return y;
  }

  // Returns the commands of a prediction that follows a few others.
  Commands commands_of_a_row(Engine& engine) {
    engine.parameters().write(0, all_initial_values(network_, 1, 2));
    for (int warm = 0; warm < 3; ++warm) predicted(engine, x_.data(), 1);
    test::take_commands();
    predicted(engine, x_.data(), 1);
    return test::take_commands();
  }

  const Network network_ = network_of(GetParam());
  const std::vector<float> x_ = random_floats(kRows * 28 * 28, 3);
  std::unique_ptr<World> world_;
};
INSTANTIATE_TEST_SUITE_P(Networks, Predictions, testing::Values("guide", "residual", "6,5,32", "0,0,300"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), ',', '_');
                           return name;
                         });

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_P(Predictions, OfARowTakeOneLaunchAndOneWait) {
  open("always");
  if (IsSkipped()) return;
  Engine engine(world_->device(), network_, 1, false);
  EXPECT_EQ(commands_of_a_row(engine), (Commands{.launches = 1, .copies = 0, .waits = 1}));
  one_by_one(engine, x_.data(), 1);
  EXPECT_GT(test::take_commands().launches, 1U);
}

// The first predictions would wait for the compiler.
TEST_P(Predictions, BeginWithSeparateLaunches) {
  open("worthwhile");
  if (IsSkipped()) return;
  Engine engine(world_->device(), network_, 1, false);
  EXPECT_GT(commands_of_a_row(engine).launches, 1U);
}

// Other weights, numbers of rows and engines follow each other on one queue, and the next engine may get the memory of
// the last one. Repetitions meet the threads of a sequence in different states.
TEST_P(Predictions, HaveTheBitsOfSeparateLaunches) {
  open("always");
  if (IsSkipped()) return;
  constexpr int kRepetitions = 20;
  for (uint32_t stream = 0; stream < 3; ++stream) {
    Engine engine(world_->device(), network_, kRows, false);
    for (uint32_t weights = 0; weights < 2; ++weights) {
      engine.parameters().write(0, all_initial_values(network_, stream, weights));
      for (const int64_t rows : {int64_t{1}, int64_t{2}, kRows}) {
        const std::vector<float> want = one_by_one(engine, x_.data(), rows);
        for (int k = 0; k < kRepetitions; ++k)
          ASSERT_TRUE(same_bits(predicted(engine, x_.data(), rows), want)) << stream << weights << rows << " " << k;
        const float* const last = x_.data() + (kRows - rows) * network_.input.elements();
        ASSERT_TRUE(same_bits(predicted(engine, last, rows), one_by_one(engine, last, rows)));
      }
    }
  }
}

}  // namespace
}  // namespace mokume::cnn_test
