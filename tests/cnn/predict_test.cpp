// Predicts batches that do not fit into a processor's cache.
#include "harness.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;

class ManyRows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ManyRows, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

// On the host backend, some of these rows at a time pass through all layers. The first layer works in the memory of the
// input, and the last one in that of the output.
TEST_P(ManyRows, ArePredictedLikeEachAlone) {
  World world(GetParam());
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const sdk::Device device = world.device();
  constexpr int64_t kRows = 150, kImage = 32 * 32 * 3, kOutputs = 10;
  Settings settings;
  settings.layers = layers({plain("relu"), conv2d(40, 3, 1, 1, true), plain("relu"), conv2d(kOutputs, 3, 1, 1, true),
                            adaptive_avg_pool2d(1), flatten(), plain("relu")});
  const Network network = make_network(settings, {32, 32, 3, false}, kOutputs);
  Engine all(device, network, kRows, false), one(device, network, 1, false);
  const std::vector<float> weights = all_initial_values(network, 1, 2), x = random_floats(kRows * kImage, 3);
  all.parameters().write(0, weights);
  one.parameters().write(0, weights);
  std::vector<float> got(kRows * kOutputs), want(got.size());
  all.write_input(x.data(), kRows);
  all.read(all.predict(kRows), got.data());
  for (int64_t r = 0; r < kRows; ++r) {
    one.write_input(x.data() + r * kImage, 1);
    one.read(one.predict(1), want.data() + r * kOutputs);
  }
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace mokume::cnn_test
