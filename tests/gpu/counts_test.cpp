// Counts the commands that the host sends to a card, through the layer that poses as the card. A change that adds a
// launch, a wait or a copy fails here until its author changes the number on purpose.
#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <regex>

#include "cnn/harness.hpp"
#include "cnn/networks.hpp"
#include "gpu/pose/pose.h"
#include "svc/harness.hpp"
#include "train/stacked.hpp"

namespace mokume {

struct Asked {
  uint64_t launches = 0, waits = 0, reads = 0, read_bytes = 0, writes = 0, written_bytes = 0, copies = 0,
           copied_bytes = 0;

  bool operator==(const Asked&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Asked& a) {
  return out << "{" << a.launches << ", " << a.waits << ", " << a.reads << ", " << a.read_bytes << ", " << a.writes
             << ", " << a.written_bytes << ", " << a.copies << ", " << a.copied_bytes << "}";
}

namespace {

using cnn::Training;

// Forces all choices, so that no measurement affects the counts.
const device::Choices kChoices{{"gemm", "tile"}, {"conv", "implicit"}, {"map", "scalar"}};

template <class Function>
Function of_layer(const char* name) {
  const char* path = std::getenv("OPENCL_LAYERS");
  void* const layer = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (layer == nullptr) throw Error(MK_INTERNAL, "the loader has not loaded a layer: set OPENCL_LAYERS to its library");
  return reinterpret_cast<Function>(dlsym(layer, name));
}

Asked counted() {
  pose_counts_t c{};
  of_layer<pose_counts_fn>(POSE_COUNTS_SYMBOL)(&c);
  return {c.launches, c.waits, c.reads, c.read_bytes, c.writes, c.written_bytes, c.copies, c.copied_bytes};
}

Asked operator-(const Asked& a, const Asked& b) {
  return {a.launches - b.launches, a.waits - b.waits,
          a.reads - b.reads,       a.read_bytes - b.read_bytes,
          a.writes - b.writes,     a.written_bytes - b.written_bytes,
          a.copies - b.copies,     a.copied_bytes - b.copied_bytes};
}

Asked asked_by(const std::function<void()>& work) {
  const Asked before = counted();
  work();
  return counted() - before;
}

// Returns the cost of one more step: the commands of `work(2)` minus those of `work(1)`, after a first call that builds
// kernels and grows workspaces.
Asked of_a_step(const std::function<void(int64_t)>& work) {
  work(1);
  const Asked one = asked_by([&] { work(1); });
  return asked_by([&] { work(2); }) - one;
}

class Networks : public testing::Test {
 protected:
  explicit Networks(const device::Choices& choices = kChoices) : world_("opencl", 0, choices) {}

  void SetUp() override {
    ASSERT_TRUE(world_.present());
    of_layer<pose_idle_fn>(POSE_IDLE_SYMBOL)(1);
    data_.rows = kImages;
    data_.x = x_.data();
    data_.labels = labels_.data();
    data_.n_classes = 10;
  }

  void TearDown() override { of_layer<pose_idle_fn>(POSE_IDLE_SYMBOL)(0); }

  Asked step_of(const char* name, int64_t batch, int64_t members = 1) {
    return step_of(cnn::settings_of(name), batch, members);
  }
  Asked step_of(cnn::Settings settings, int64_t batch, int64_t members = 1, cnn::Shape image = {28, 28, 1, false}) {
    settings.batch_size = batch;
    settings.epochs = 1000;
    data_.features = image.height * image.width * image.channels;
    const cnn::Network network = cnn::make_network(settings, image, 10);
    const sdk::Device device = world_.device();
    const cnn::ResidentData resident(device, data_);
    cnn::StackMemory memory(device, members);
    std::vector<std::unique_ptr<Training>> trainings;
    std::vector<Training*> all;
    for (int64_t m = 0; m < members; ++m) {
      cnn::TrainingTask task;
      task.stream = static_cast<uint32_t>(m);
      for (int32_t r = 0; r < kImages; ++r) task.train.push_back(r);
      trainings.push_back(std::make_unique<Training>(world_.host(), device, resident, network, settings, task,
                                                     members > 1 ? &memory : nullptr));
      if (members > 1) memory.next_network();
      all.push_back(trainings.back().get());
    }
    return of_a_step([&](int64_t batches) {
      cnn::run_batches(all, batches);
      device.finish();
    });
  }

 private:
  static constexpr int64_t kImages = 2048;
  cnn_test::World world_;
  std::vector<float> x_ = std::vector<float>(kImages * 32 * 32 * 3, 0.5F);
  std::vector<int32_t> labels_ = std::vector<int32_t>(kImages, 3);
  mk_data data_{};
};

TEST_F(Networks, guide_at_128) { EXPECT_EQ(step_of("guide", 128), (Asked{30})); }
TEST_F(Networks, lightning_at_128) { EXPECT_EQ(step_of("lightning", 128), (Asked{37})); }

// Transforms images, weights and outputs of three convolutions.
class NetworksWithWinograd : public Networks {
 protected:
  NetworksWithWinograd() : Networks({{"gemm", "tile"}, {"conv", "winograd"}, {"map", "scalar"}}) {}
};
TEST_F(NetworksWithWinograd, lightning_at_128) { EXPECT_EQ(step_of("lightning", 128), (Asked{55})); }

// Compiles the products of a network for matrix units, whose instructions scripts/check-kernels counts.
class NetworksWithUnits : public Networks, public testing::WithParamInterface<const char*> {
 protected:
  NetworksWithUnits() : Networks(choices_of(GetParam())) {}

 private:
  static device::Choices choices_of(const std::string& unit) {
    const size_t at = unit.rfind('_');
    return {{"map", "scalar"}, {"units", "emulated_" + unit.substr(0, at)}, {"precision", unit.substr(at + 1)}};
  }
};
TEST_P(NetworksWithUnits, lightning_at_128) { EXPECT_EQ(step_of("lightning", 128), (Asked{37})); }
INSTANTIATE_TEST_SUITE_P(, NetworksWithUnits, testing::Values("mma_tf32", "mma_bf16", "mfma_tf32", "mfma_bf16"),
                         [](const auto& unit) { return std::string(unit.param); });

TEST_F(Networks, study_at_10) { EXPECT_EQ(step_of("13,8,227", 10), (Asked{18})); }

// configs/cnn-resnet8.toml.
TEST_F(Networks, resnet8_at_128) {
  using namespace cnn_test;
  const auto conv = [](int64_t channels, int64_t kernel, int64_t stride) {
    return conv2d(channels, kernel, stride, kernel / 2, false);
  };
  std::vector<LayerJson> all{normalise(0.473, 0.251, false), conv(16, 3, 1), batch_norm(), relu()};
  std::string input = "start";
  all.back()["name"] = input;
  for (const auto& [channels, stride] : {std::pair<int64_t, int64_t>{16, 1}, {32, 2}, {64, 2}}) {
    const std::string name = "block" + std::to_string(channels);
    all.insert(all.end(),
               {conv(channels, 3, stride), batch_norm(), relu(), conv(channels, 3, 1),
                with(batch_norm(), {{"name", "main" + name}}), with(conv(channels, 1, stride), {{"inputs", input}}),
                with(batch_norm(), {{"name", "shortcut" + name}}),
                with(add(), {{"inputs", "main" + name + ",shortcut" + name}}), with(relu(), {{"name", name}})});
    input = name;
  }
  all.insert(all.end(), {adaptive_avg_pool2d(1), flatten(), linear(10, true)});
  cnn::Settings settings = cnn::settings_of("guide");
  settings.layers = layers(all);
  settings.optimizer = {ops::Optimizer::sgd, 0.1, 5e-4, 0.9, 0, 0};
  EXPECT_EQ(step_of(settings, 128, 1, {32, 32, 3, false}), (Asked{119}));
}

// Each activation takes a launch forward and one backward. The loss stays one launch. The norm of the gradients, whose
// squares are added in whole parts and a rest, takes three launches, and an average of the weights takes one.
TEST_F(Networks, options) {
  cnn::Settings s = cnn::settings_of("0,0,100");
  const Asked plain = step_of(s, 100);
  s.layers = std::regex_replace(s.layers, std::regex("relu"), "tanh");
  const Asked curved = step_of(s, 100);
  EXPECT_EQ((curved - plain).launches, 1U) << "relu is part of the product, and its gradient is a launch";
  s.loss_form.softmax.smoothing = 0.1;
  EXPECT_EQ(step_of(s, 100), curved);
  s.optimizer.clip = 1;
  s.ema_decay = 0.9;
  EXPECT_EQ((step_of(s, 100) - curved).launches, 4U);
}
TEST_F(Networks, stack_of_784_100_10) { EXPECT_EQ(step_of("0,0,100", 10, 32), (Asked{12})); }

// Covers depthwise, dilated and transposed convolutions, groups, averages of windows, and augmented images.
TEST_F(Networks, kinds_of_windows_at_16) {
  using namespace cnn_test;
  cnn::Settings settings = cnn::settings_of("guide");
  settings.layers =
      layers({conv2d(8, 3, 2, 1, true), with(conv2d(8, 3, 1, 1, true), {{"groups", 8}}),
              with(conv2d(8, 3, 1, 2, true), {{"dilation", 2}}), with(conv2d(8, 3, 1, 1, true), {{"groups", 2}}),
              conv_transpose2d(4, 2, 2, 0, 0, 1, true), avg_pool2d(4, 0, 0, false, true), flatten(), linear(10, true)});
  settings.augment.shift = 2;
  settings.augment.contrast = 0.2;
  EXPECT_EQ(step_of(settings, 16), (Asked{46}));
}

// Padding by reflection gathers pixels forward and backward, and so do cells of unequal size. Softmax takes one launch
// in each direction. AMSGrad takes as many launches as Adam. Muon takes 32 for each of its two weights, 25 of them in
// its five steps, and leaves AdamW two runs of other parameters instead of one.
TEST_F(Networks, padding_softmax_and_muon) {
  using namespace cnn_test;
  cnn::Settings settings = cnn::settings_of("guide");
  settings.optimizer = {ops::Optimizer::adam, 0.01, 0, 0.9, 0.999, 1e-8};
  const auto step = [&](const LayerJson& second, const std::vector<LayerJson>& more) {
    std::vector<LayerJson> all{conv2d(8, 3, 2, 1, true), plain("tanh"), second, plain("tanh")};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {flatten(), linear(10, true)});
    settings.layers = layers(all);
    return step_of(settings, 16);
  };
  const LayerJson conv = conv2d(8, 3, 1, 1, true), reflecting = with(conv, {{"padding_mode", "reflect"}});
  const LayerJson cells = with(adaptive_avg_pool2d(4), {{"type", "adaptive_max_pool2d"}});
  const Asked padded = step(reflecting, {});
  EXPECT_EQ((padded - step(conv, {})).launches, 2U);
  EXPECT_EQ((step(reflecting, {plain("softmax")}) - padded).launches, 2U);
  EXPECT_EQ((step(reflecting, {cells}) - step(reflecting, {max_pool2d(4, 4, 0)})).launches, 2U);
  settings.optimizer.amsgrad = true;
  EXPECT_EQ(step(reflecting, {}), padded);
  settings.optimizer = {ops::Optimizer::adamw, 0.01, 0, 0.9, 0.999, 1e-8};
  settings.muon = {0.02, 0.1, 0.95, true, 5, "original"};
  EXPECT_EQ((step(reflecting, {}) - padded).launches, 65U);
}

// Mixing a batch and its losses takes seven launches. Each batch of a step except the last launches a sum instead of
// the optimizer.
TEST_F(Networks, mixup_and_accumulation) {
  cnn::Settings settings = cnn::settings_of("0,0,100");
  settings.optimizer = {ops::Optimizer::adam, 0.01, 0, 0.9, 0.999, 1e-8};
  const Asked plain = step_of(settings, 64);
  settings.mixup_alpha = 0.2;
  EXPECT_EQ((step_of(settings, 64) - plain).launches, 7U);
  settings.mixup_alpha = 0;
  settings.accumulate = 1000;
  EXPECT_EQ(step_of(settings, 64).launches, plain.launches);
}

// Sets the health of the card's driver until the end of the block.
class Health {
 public:
  explicit Health(pose_health_t health) { set(health); }
  ~Health() { set(POSE_HEALTHY); }
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

 private:
  static void set(pose_health_t health) { of_layer<pose_health_fn>(POSE_HEALTH_SYMBOL)(health); }
};

void round_trip(const sdk::Device& device) {
  const sdk::Buffer buffer = device.upload(std::vector<float>{1, 2, 3});
  std::vector<float> back(3);
  device.read(buffer, back.data(), back.size());
  EXPECT_EQ(back, (std::vector<float>{1, 2, 3}));
}

TEST(Waits, for_a_driver_that_hangs_end_with_the_cause_and_the_cure) {
  setenv("MOKUME_WAIT_SECONDS", "1", 1);
  auto world = std::make_unique<cnn_test::World>("opencl", 0, kChoices);
  unsetenv("MOKUME_WAIT_SECONDS");
  ASSERT_TRUE(world->present());
  const Health sick(POSE_HANGS);
  try {
    round_trip(world->device());
    ADD_FAILURE() << "it was waited for";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
    EXPECT_NE(std::string(e.what()).find(" has not finished its commands in "), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("MOKUME_WAIT_SECONDS"), std::string::npos) << e.what();
  }
  world.reset();  // closes the device without a wait
}

// Takes 5,120 more steps of a solver that has not converged, at 512 per launch. The host sends and reads the 64 places
// of two problems with every launch.
TEST(Solver, steps_5120) {
  constexpr int64_t kSteps = 5120;
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices);
  ASSERT_TRUE(world.present());
  const svc_test::Blobs blobs(400, 6, 2, 2, 3.0);
  const auto fit = [&](int64_t steps) {
    const svc_test::Experiment experiment(blobs, {{1e5, 0.02, "rbf", 3, 0, "ovr", 1e-6, steps}}, 2);
    svc_test::Session session(world, experiment);
    const svc_test::Results results = session.fit({{0, 0}});
    EXPECT_NE(results.begin()->second.note.find("steps=" + std::to_string(steps)), std::string::npos)
        << results.begin()->second.note;
  };
  fit(kSteps);
  const Asked some = asked_by([&] { fit(kSteps); }), more = asked_by([&] { fit(2 * kSteps); });
  EXPECT_EQ(more - some, (Asked{10, 50, 20, 43520, 30, 43560, 0, 0}));
}

// The backend computes half of a kernel matrix, in strips of 512 rows, and copies it to the other half.
TEST(Solver, a_kernel_matrix_of_1100_rows) {
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices);
  ASSERT_TRUE(world.present());
  const svc_test::Blobs blobs(1100, 6, 2, 2, 3.0);
  const svc_test::Candidate one{.gamma = 0.02, .max_iterations = 1}, other{.gamma = 0.03, .max_iterations = 1};
  const svc_test::Experiment experiment(blobs, {one, other}, 2);
  svc_test::Session session(world, experiment);
  session.fit({{0, 0}});
  const Asked with_matrix = asked_by([&] { session.fit({{1, 0}}); });
  const Asked without = asked_by([&] { session.fit({{1, 0}}); });
  EXPECT_EQ((with_matrix - without).launches, 5U) << "three strips, two of which have columns to their left";
}

// A card takes the same steps as the host.
TEST(Solver, a_regression) {
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices), host("host");
  ASSERT_TRUE(world.present());
  svc_test::Blobs blobs(300, 4, 2, 3, 2.0);
  for (float& x : blobs.x) x = std::round(4 * x);  // gives kernel values without rounding
  for (int64_t r = 0; r < blobs.rows; ++r) blobs.targets.push_back(blobs.x[static_cast<size_t>(4 * r)] * 0.5F);
  const svc_test::Experiment experiment(blobs, {{.c = 0.01, .kernel = "linear"}}, 3);
  svc_test::Session on_card(world, experiment), on_host(host, experiment);
  EXPECT_EQ(on_card.fit({{0, 1}}).begin()->second.note, on_host.fit({{0, 1}}).begin()->second.note);
}

// Solves of one chain share launches, so eight values of C take fewer launches than separate solves.
TEST(Solver, values_of_c_at_once) {
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices);
  ASSERT_TRUE(world.present());
  const svc_test::Blobs blobs(400, 6, 2, 2, 3.0);
  std::vector<svc_test::Candidate> candidates;
  for (double c = 1; c < 1000; c *= 2.5) candidates.push_back({.c = c, .gamma = 0.02, .solver = "blocked"});
  const svc_test::Experiment experiment(blobs, candidates, 2);
  svc_test::Session session(world, experiment);
  std::vector<svc_test::Key> all;
  uint64_t one_by_one = 0;
  for (uint32_t c = 0; c < candidates.size(); ++c) {
    all.emplace_back(c, 0);
    one_by_one += asked_by([&] { session.fit({all.back()}); }).launches;
  }
  EXPECT_LT(2 * asked_by([&] { session.fit(all); }).launches, one_by_one);
}

// The blocked solver takes sixteen rounds of four launches for each wait, which reads two arrays.
TEST(Solver, rounds_of_blocks) {
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices);
  ASSERT_TRUE(world.present());
  const svc_test::Blobs blobs(400, 6, 2, 2, 1.0);
  const auto fit = [&](int64_t steps) {
    svc_test::Candidate candidate{.c = 1e5, .gamma = 0.02, .tol = 1e-6, .max_iterations = steps, .solver = "blocked"};
    const svc_test::Experiment experiment(blobs, {candidate}, 2);
    svc_test::Session session(world, experiment);
    EXPECT_EQ(session.fit({{0, 0}}).begin()->second.status, MK_FIT_CAPPED);
  };
  fit(2'000);
  const Asked some = asked_by([&] { fit(2'000); }), more = asked_by([&] { fit(500'000); });
  const Asked asked = more - some;
  EXPECT_GT(asked.launches, 0U);
  EXPECT_EQ(asked.launches, 32 * asked.reads);
}

// Tests the working set of large problems, which scripts/check-kernels also compiles.
TEST(Solver, a_working_set_of_1024_rows) {
  svc_test::World world("opencl", 0, uint64_t{2} << 30, kChoices);
  ASSERT_TRUE(world.present());
  const svc_test::Blobs blobs(9000, 4, 2, 2, 3.0);
  const svc_test::Experiment experiment(blobs, {{.gamma = 0.02, .max_iterations = 1, .solver = "blocked"}}, 2);
  svc_test::Session session(world, experiment);
  EXPECT_EQ(session.fit({{0, 0}}).begin()->second.status, MK_FIT_CAPPED);
}

}  // namespace
}  // namespace mokume
