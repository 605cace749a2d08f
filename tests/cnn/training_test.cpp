// Whole trainings: the same bits every time, after a cancel too; stop rules, divergence, what is refused, saved models.
#include "training.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "fitted.hpp"
#include "harness.hpp"
#include "pictures.hpp"
#include "sdk/ops.hpp"

namespace mokume::cnn_test {
namespace {

namespace fs = std::filesystem;

class Trainings : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    world_ = std::make_unique<World>(GetParam());
    if (!world_->present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
    device_.emplace(world_->device());
  }
  std::unique_ptr<World> world_;
  std::optional<sdk::Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Trainings, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(Trainings, LearnAndRepeatEveryBit) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  std::vector<float> first;
  for (int turn = 0; turn < 2; ++turn) {
    Sink sink{kNever};
    const mk_fit_sink table = sink.table();
    Training training(world_->host(), *device_, data, network, settings, task_of());
    training.run(table);
    EXPECT_EQ(training.epochs_done(), 6);
    EXPECT_GT(training.validation().accuracy(), 0.9);
    EXPECT_LT(training.history().train_loss.back(), 0.5 * training.history().train_loss.front());
    if (turn == 0) first = training.engine().parameters().all();
    EXPECT_EQ(training.engine().parameters().all(), first);
  }
}

TEST_P(Trainings, GoOnFromACheckpointToTheSameBytes) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink never{kNever};
  const mk_fit_sink whole = never.table();
  Training undisturbed(world_->host(), *device_, data, network, settings, task_of());
  undisturbed.run(whole);
  const Scratch scratch;
  for (const int patience : {0, 2, 4}) {  // cancelled in the first, the second and the third epoch it works on
    Sink sink{patience};
    const mk_fit_sink table = sink.table();
    Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
    EXPECT_THROW(stopped.run(table), Error);
  }
  Training resumed(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  resumed.run(whole);
  EXPECT_EQ(resumed.engine().parameters().all(), undisturbed.engine().parameters().all());
  EXPECT_EQ(resumed.history().train_loss, undisturbed.history().train_loss);
  EXPECT_EQ(resumed.history().validation_loss, undisturbed.history().validation_loss);
}

// Two batches an epoch: between epochs is the only place to look.
TEST_P(Trainings, CanBeStoppedThoughTheirEpochsAreShort) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.batch_size = 128;
  settings.epochs = 20;
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink never{kNever};
  const mk_fit_sink whole = never.table();
  Training undisturbed(world_->host(), *device_, data, network, settings, task_of());
  undisturbed.run(whole);
  EXPECT_GT(never.signs, 0);
  const Scratch scratch;
  Sink sink{1};
  const mk_fit_sink table = sink.table();
  Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  EXPECT_THROW(stopped.run(table), Error);
  EXPECT_GT(stopped.epochs_done(), 0);
  Training resumed(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  resumed.run(whole);
  EXPECT_EQ(resumed.engine().parameters().all(), undisturbed.engine().parameters().all());
  EXPECT_EQ(resumed.history().train_loss, undisturbed.history().train_loss);
}

TEST_P(Trainings, StartAnewWhereTheCheckpointIsDamagedOrAnothers) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  const Scratch scratch;
  Sink sink{1};
  const mk_fit_sink table = sink.table();
  Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  EXPECT_THROW(stopped.run(table), Error);
  const auto found = [&](const Engine& engine, const std::string& fit = "the fit") {
    return find_checkpoint(scratch.str(), fit, engine).has_value();
  };
  Settings larger = settings;
  std::get<Conv2d>(larger.layers[0]).out_channels = 5;
  const Network other = make_network(larger, {6, 6, 1, false}, 4);
  EXPECT_TRUE(found(stopped.engine()));
  EXPECT_FALSE(found(stopped.engine(), "another fit"));
  EXPECT_FALSE(found(Engine(*device_, other, 8, true, settings.optimizer)));
  Settings plain = settings;  // an optimizer without states
  plain.optimizer = {ops::Optimizer::sgd, 0.1, 0, 0, 0, 0};
  Training without_states(world_->host(), *device_, data, network, plain, task_of(scratch.str() + "/plain"));
  sink.patience = 1;
  EXPECT_THROW(without_states.run(table), Error);
  EXPECT_FALSE(find_checkpoint(scratch.str() + "/plain", "the fit", stopped.engine()).has_value());
  fs::resize_file(scratch.str() + "/checkpoint.safetensors", 100);
  EXPECT_FALSE(found(stopped.engine()));
  std::ofstream(scratch.str() + "/checkpoint.safetensors") << "nonsense";
  EXPECT_FALSE(found(stopped.engine()));
}

TEST_P(Trainings, StopByRule) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  settings.epochs = 100;
  settings.stop.kind = StopRule::Kind::ratio;
  settings.stop.ratio = 0.9;
  Training ratio(world_->host(), *device_, data, network, settings, task_of());
  ratio.run(table);
  const std::vector<double>& loss = ratio.history().train_loss;
  ASSERT_GE(loss.size(), 2U);
  ASSERT_LT(loss.size(), 100U);
  EXPECT_GT(loss.back(), 0.9 * loss[loss.size() - 2]);
  for (size_t e = 1; e + 1 < loss.size(); ++e) EXPECT_LE(loss[e], 0.9 * loss[e - 1]);

  settings.stop = {StopRule::Kind::plateau, 0, 2, 0.01};
  Training plateau(world_->host(), *device_, data, network, settings, task_of());
  plateau.run(table);
  EXPECT_LT(plateau.epochs_done(), 100);
}

TEST_P(Trainings, EndWhereTheLossIsNoNumber) {
  const Pictures pictures(true);
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.layers.back() = Linear{1, true};
  settings.loss = Loss::mse;
  settings.optimizer = {ops::Optimizer::sgd, 1e6, 0, 0.9, 0, 0};
  const Network network = make_network(settings, {6, 6, 1, false}, 1);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  Training training(world_->host(), *device_, data, network, settings, task_of());
  training.run(table);
  EXPECT_TRUE(training.diverged());
  EXPECT_LT(training.epochs_done(), settings.epochs + 1);
}

TEST_P(Trainings, TakeTheMemoryThatIsPlanned) {
  const Pictures pictures(true);
  Settings settings = small_settings();
  settings.layers = {Flatten{}, Normalise{0, 1, true}, Linear{70, true}, Dropout{0.2}, Linear{1, true}};
  settings.loss = Loss::mse;
  settings.standardise_target = true;
  const Network network = make_network(settings, {6, 6, 1, false}, 1);
  const ResidentData data(*device_, pictures.data);
  EXPECT_EQ(world_->allocated_bytes(), ResidentData::bytes(pictures.data));
  Training training(world_->host(), *device_, data, network, settings, task_of());
  const uint64_t planned = ResidentData::bytes(pictures.data) + Training::bytes(network, settings, kRows);
  EXPECT_EQ(world_->allocated_bytes(), planned);
  // At the end Adam's two states and the gradients make room for a copy in host memory.
  EXPECT_EQ(training.take_parameters(), training.engine().parameters().all());
  EXPECT_EQ(world_->allocated_bytes(), planned - 3 * sizeof(float) * static_cast<uint64_t>(network.n_parameters));
}

TEST_P(Trainings, SaveAModelThatPredictsTheSame) {
  const Pictures pictures;
  Fitted fitted;
  fitted.settings = small_settings();
  fitted.network = make_network(fitted.settings, {6, 6, 1, false}, 4);
  fitted.parameters = all_initial_values(fitted.network, 3, 0);
  fitted.class_names = {"a", "b", "c", "d"};
  fitted.mean = {127.5};
  fitted.scale = {73.61};
  const Scratch scratch;
  fitted.save(scratch.str());
  const Fitted loaded = Fitted::load(scratch.str());
  EXPECT_EQ(loaded.parameters, fitted.parameters);
  EXPECT_EQ(loaded.class_names, fitted.class_names);
  EXPECT_EQ(loaded.mean, fitted.mean);
  std::vector<int32_t> a(kRows), b(kRows);
  std::vector<float> p(kRows * 4), q(kRows * 4);
  fitted.predict(*device_, pictures.x.data(), kRows, a.data(), p.data());
  loaded.predict(*device_, pictures.x.data(), kRows, b.data(), q.data());
  EXPECT_EQ(a, b);
  EXPECT_EQ(p, q);
  double sum = 0;
  for (size_t c = 0; c < 4; ++c) sum += std::exp(static_cast<double>(p[c]));
  EXPECT_NEAR(sum, 1, 1e-6);

  std::ofstream(scratch.str() + "/manifest.json") << "{}";
  EXPECT_THROW(Fitted::load(scratch.str()), Error);
}

// The message of the error that making a network ends in.
std::string refusal(const std::vector<LayerSettings>& layers, const Shape& input = {6, 6, 1, false}) {
  Settings s;
  s.layers = layers;
  try {
    make_network(s, input, 4);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    return e.what();
  }
  return "";
}

TEST(Networks, AreRefusedWithTheLayerAndTheCure) {
  const auto has = [](const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  };
  has(refusal({}), {"no layers"});
  has(refusal({Conv2d{4, 7, 1, 0, true}, Flatten{}, Linear{4, true}}), {"layer 1 (conv2d)", "7 x 7", "kernel_size"});
  has(refusal({MaxPool2d{4, 4, 0}, MaxPool2d{2, 2, 0}, Flatten{}, Linear{4, true}}), {"layer 2 (max_pool2d)"});
  has(refusal({Linear{4, true}}), {"layer 1 (linear)", "flatten"});
  has(refusal({Flatten{}, Conv2d{4, 1, 1, 0, true}}), {"layer 2 (conv2d)", "before flatten"});
  has(refusal({Flatten{}, Linear{5, true}}), {"layer 2 (linear)", "5 outputs", "out_features to 4"});
  has(refusal({Conv2d{4, 3, 1, 1, true}}), {"ends in images"});
  has(refusal({LogSoftmax{}, Flatten{}, Linear{4, true}}), {"layer 1 (log_softmax)", "last"});
  has(refusal({Flatten{}, Normalise{0, 1, true}, Linear{4, true}, Normalise{0, 1, true}}), {"layer 4", "first layer"});
  has(refusal({Relu{}}, {1, 1, 4, true}), {"nothing to learn"});
  has(refusal({Flatten{}, Linear{1'000'000'000, true}, Linear{1'000'000'000, true}, Linear{4, true}}), {"2^40"});
  EXPECT_EQ(refusal({Conv2d{4, 3, 1, 1, true}, Relu{}, Flatten{}, Linear{4, true}, LogSoftmax{}}), "");
}

TEST(Networks, ThatDoNotFitSayWhatTheyNeed) {
  const World world("host");
  Settings s;
  s.layers = {Flatten{}, Linear{100'000'000, true}, Linear{4, true}};
  const Network network = make_network(s, {6, 6, 1, false}, 4);
  try {
    const sdk::Device device = world.device();
    const Engine engine(device, network, 8, true);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_OUT_OF_MEMORY);
    EXPECT_NE(std::string(e.what()).find("batch_size"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace mokume::cnn_test
