// Tests training as a whole: equal bits every time and after a cancellation, stop rules, divergence, errors, and saved
// models.
#include "train/training.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "augmentation.hpp"
#include "harness.hpp"
#include "pictures.hpp"
#include "saved/fitted.hpp"
#include "sdk/ops.hpp"
#include "storage/safetensors.hpp"
#include "support/sample.hpp"
#include "support/test_host.hpp"
#include "train/checkpoint.hpp"

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

// The product has one layer as both of its inputs.
TEST_P(Trainings, AProductOfLayersTakesNoRowsOrSome) {
  Settings settings;
  settings.layers = layers(
      {called("x", conv2d(3, 3, 1, 1, true)), reading({"x", "x"}, plain("multiply")), flatten(), linear(2, true)});
  const Network network = make_network(settings, {4, 4, 1, false}, 2);
  Engine engine(*device_, network, 3, false);
  const std::vector<float> weights = all_initial_values(network, 1, 2), x = random_floats(48, 3);
  engine.parameters().write(0, weights);
  engine.write_input(x.data(), 0);
  EXPECT_EQ(engine.predict(0).rows, 0);
  engine.write_input(x.data(), 3);
  std::vector<float> y(6);
  engine.read(engine.predict(3), y.data());
  // The first output for the first image, from its definition.
  double sum = weights[30 + 96];
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t column = 0; column < 4; ++column)
      for (int64_t c = 0; c < 3; ++c) {
        double conv = weights[27 + c];
        for (int64_t k = 0; k < 9; ++k) {
          const int64_t from_row = row + k / 3 - 1, from_column = column + k % 3 - 1;
          if (from_row < 0 || from_row > 3 || from_column < 0 || from_column > 3) continue;
          conv += double{weights[k * 3 + c]} * x[from_row * 4 + from_column];
        }
        sum += conv * conv * weights[30 + ((row * 4 + column) * 3 + c) * 2];
      }
  EXPECT_NEAR(y[0], sum, 1e-5);
}

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
    train(training, table);
    EXPECT_EQ(training.record().epochs(), 6);
    EXPECT_GT(training.record().validation.accuracy(), 0.9);
    EXPECT_LT(training.record().history.train_loss.back(), 0.5 * training.record().history.train_loss.front());
    if (turn == 0) first = training.engine().parameters().all();
    EXPECT_EQ(training.engine().parameters().all(), first);
  }
}

TEST_P(Trainings, ResumeFromACheckpointToTheSameBytes) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.layers = layers({conv2d(4, 3, 1, 1, true), relu(), max_pool2d(2, 2, 0), dropout(0.2), flatten(),
                            linear(20, true), relu(), linear(4, true)});
  settings.augment.shift = 1;
  settings.augment.horizontal = 0.5;
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  const ops::OptimizerSettings optimizers[] = {{ops::Optimizer::adam, 0.01, 0, 0.9, 0.999, 1e-8},
                                               {ops::Optimizer::sgd, 0.05, 1e-3, 0.9, 0, 0},  // fused steps
                                               {ops::Optimizer::rmsprop, 0.002, 0, 0.9, 0, 1e-8},
                                               {ops::Optimizer::rmsprop, 0.002, 0, 0.9, 0.5, 1e-8},
                                               {ops::Optimizer::adadelta, 1, 0, 0.9, 0, 1e-6}};
  for (const ops::OptimizerSettings& optimizer : optimizers) {
    SCOPED_TRACE(&optimizer - optimizers);
    settings.optimizer = optimizer;
    Sink never{kNever};
    const mk_fit_sink whole = never.table();
    Training undisturbed(world_->host(), *device_, data, network, settings, task_of());
    train(undisturbed, whole);
    const Scratch scratch;
    for (const int patience : {0, 1, 1}) {  // stops in the middle of an epoch, and twice later
      Sink sink{patience};
      const mk_fit_sink table = sink.table();
      Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
      EXPECT_THROW(train(stopped, table), Error);
    }
    Training resumed(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
    train(resumed, whole);
    EXPECT_TRUE(outcome_of(resumed) == outcome_of(undisturbed));
  }
}

TEST_P(Trainings, OfGraphsResumeAndPredictWithTheirRunningMoments) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = graph_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink never{kNever};
  Training undisturbed(world_->host(), *device_, data, network, settings, task_of());
  train(undisturbed, never.table());
  EXPECT_GT(undisturbed.record().validation.accuracy(), 0.9);
  const Scratch scratch;
  for (const int patience : {0, 1}) {
    Sink sink{patience};
    Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
    EXPECT_THROW(train(stopped, sink.table()), Error);
  }
  Training resumed(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  train(resumed, never.table());
  EXPECT_EQ(outcome_of(resumed), outcome_of(undisturbed));

  // Predictions give each validated row the same class as the validation.
  Fitted fitted;
  fitted.settings = settings;
  fitted.network = network;
  fitted.parameters = undisturbed.engine().parameters().all();
  fitted.class_names = {"a", "b", "c", "d"};
  const Scratch model;
  fitted.save(model.str());
  std::vector<int32_t> predicted(kRows);
  Fitted::load(model.str()).predict(*device_, pictures.x.data(), kRows, predicted.data(), nullptr);
  int64_t hits = 0;
  for (const int32_t r : task_of().validate)
    if (predicted[static_cast<size_t>(r)] == pictures.labels[static_cast<size_t>(r)]) ++hits;
  EXPECT_EQ(hits, undisturbed.record().validation.hits);
  // The file contains a tensor that PyTorch's modules expect.
  const safetensors::Reader file(model.str() + "/model.safetensors");
  const safetensors::Tensor* tracked = file.find("1.num_batches_tracked");
  ASSERT_NE(tracked, nullptr);
  EXPECT_EQ(tracked->dtype, safetensors::Dtype::i64);
  EXPECT_NE(file.find("main.running_var"), nullptr);
}

// The steps are too small to change a weight, so only the images make a difference.
TEST_P(Trainings, ChangeTheImagesOfTrainingBatchesAlone) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.layers = layers({conv2d(4, 3, 1, 1, true), relu(), flatten(), linear(4, true)});
  settings.optimizer = {ops::Optimizer::sgd, 1e-30, 0, 0, 0, 0};
  const auto history = [&] {
    const Network network = make_network(settings, {6, 6, 1, false}, 4);
    Sink sink{kNever};
    const mk_fit_sink table = sink.table();
    Training training(world_->host(), *device_, data, network, settings, task_of());
    train(training, table);
    return training.record().history;
  };
  const History plain = history();
  settings.augment.erase = 4;
  settings.augment.erase_p = 0.5;
  const History changed = history();
  EXPECT_EQ(changed.validation_loss, plain.validation_loss);
  for (size_t e = 0; e < plain.train_loss.size(); ++e) {
    EXPECT_GT(std::fabs(changed.train_loss[e] - plain.train_loss[e]), 1e-4 * plain.train_loss[e]) << e;
  }
  EXPECT_NE(changed.train_loss[1], changed.train_loss[0]) << "every epoch has changes of its own";
}

// With two batches per epoch, training can check for a stop only between epochs.
TEST_P(Trainings, CanBeStoppedEvenIfTheirEpochsAreShort) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.batch_size = 128;
  settings.epochs = 20;
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink never{kNever};
  const mk_fit_sink whole = never.table();
  Training undisturbed(world_->host(), *device_, data, network, settings, task_of());
  train(undisturbed, whole);
  EXPECT_GT(never.signs, 0);
  const Scratch scratch;
  Sink sink{1};
  const mk_fit_sink table = sink.table();
  Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  EXPECT_THROW(train(stopped, table), Error);
  EXPECT_GT(stopped.record().epochs(), 0);
  Training resumed(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  train(resumed, whole);
  EXPECT_EQ(resumed.engine().parameters().all(), undisturbed.engine().parameters().all());
  EXPECT_EQ(resumed.record().history.train_loss, undisturbed.record().history.train_loss);
}

TEST_P(Trainings, StartOverIfTheCheckpointIsDamagedOrForeign) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  const Scratch scratch;
  Sink sink{1};
  const mk_fit_sink table = sink.table();
  Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  EXPECT_THROW(train(stopped, table), Error);
  const auto found = [&](const Engine& engine) {
    return find_checkpoint(world_->host(), scratch.str(), "the fit", engine).has_value();
  };
  Settings larger = settings;
  set_layer(larger, 0, conv2d(5, 3, 1, 1, true));
  const Network other = make_network(larger, {6, 6, 1, false}, 4);
  EXPECT_TRUE(found(stopped.engine()));
  EXPECT_FALSE(found(Engine(*device_, other, 8, true, settings.optimizer)));
  Settings plain = settings;  // this optimizer has no states
  plain.optimizer = {ops::Optimizer::sgd, 0.1, 0, 0, 0, 0};
  Training without_states(world_->host(), *device_, data, network, plain, task_of(scratch.str() + "/plain"));
  sink.patience = 1;
  EXPECT_THROW(train(without_states, table), Error);
  EXPECT_FALSE(find_checkpoint(world_->host(), scratch.str() + "/plain", "the fit", stopped.engine()).has_value());
  EXPECT_EQ(checkpoint_batch(world_->host(), scratch.str() + "/plain", "another fit"), 0);
  fs::resize_file(scratch.str() + "/checkpoint.safetensors", 100);
  EXPECT_FALSE(found(stopped.engine()));
  std::ofstream(scratch.str() + "/checkpoint.safetensors") << "nonsense";
  EXPECT_FALSE(found(stopped.engine()));
}

void write_without_checksum(const std::string& file) {
  namespace st = safetensors;
  const st::Reader reader(file);
  st::Writer writer;
  std::vector<std::vector<char>> all;
  for (const st::Tensor& tensor : reader.tensors()) {
    all.emplace_back(tensor.bytes);
    reader.read(tensor, all.back().data());
    writer.add(tensor.name, tensor.dtype, tensor.shape, all.back().data());
  }
  for (const auto& [key, value] : reader.metadata()) writer.metadata(key, value);
  writer.write(file);
}

// Training does not resume from a file with a flipped bit, or from a file of an older version without a checksum. It
// starts over and gives the results of undisturbed training.
TEST_P(Trainings, SetADamagedCheckpointAside) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  const Settings settings = small_settings();
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  Training whole(world_->host(), *device_, data, network, settings, task_of());
  train(whole, table);
  const std::vector<float> expected = whole.take_parameters();

  const Scratch scratch;
  sink.patience = 1;
  Training stopped(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  EXPECT_THROW(train(stopped, table), Error);
  const std::string file = scratch.str() + "/checkpoint.safetensors", aside = file + ".damaged";
  const auto read = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string good = read();
  const test::TestHost log;
  const auto taken = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    const bool batch = checkpoint_batch(sdk::Host(log.table()), scratch.str(), "the fit") != 0;
    if (fs::exists(aside)) fs::rename(aside, file);
    return find_checkpoint(sdk::Host(log.table()), scratch.str(), "the fit", stopped.engine()).has_value() || batch;
  };
  EXPECT_TRUE(taken(good));
  EXPECT_TRUE(log.lines().empty());
  for (size_t at = 0; at < good.size(); at += test::sample(7, 1)) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    ASSERT_FALSE(taken(flipped)) << at;
    ASSERT_TRUE(fs::exists(aside) && !fs::exists(file)) << at;
    ASSERT_EQ(log.lines().back().level, MK_LOG_WARNING);
    ASSERT_NE(log.lines().back().text.find(aside), std::string::npos) << log.lines().back().text;
  }
  std::ofstream(file, std::ios::binary) << good;
  write_without_checksum(file);
  EXPECT_FALSE(taken(read())) << "what an older version wrote may be damaged";

  std::string flipped = good;
  flipped[good.size() - 2] = static_cast<char>(flipped[good.size() - 2] ^ 4);
  std::ofstream(file, std::ios::binary) << flipped;
  sink.patience = kNever;
  Training anew(world_->host(), *device_, data, network, settings, task_of(scratch.str()));
  train(anew, table);
  EXPECT_EQ(anew.take_parameters(), expected);
  EXPECT_TRUE(fs::exists(aside));
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
  train(ratio, table);
  const std::vector<double>& loss = ratio.record().history.train_loss;
  ASSERT_GE(loss.size(), 2U);
  ASSERT_LT(loss.size(), 100U);
  EXPECT_GT(loss.back(), 0.9 * loss[loss.size() - 2]);
  for (size_t e = 1; e + 1 < loss.size(); ++e) EXPECT_LE(loss[e], 0.9 * loss[e - 1]);

  settings.stop = {StopRule::Kind::plateau, 0, 2, 0.01};
  Training plateau(world_->host(), *device_, data, network, settings, task_of());
  train(plateau, table);
  // Finds the first epoch at which the last two epochs improve on the best earlier one by at most min_delta.
  const std::vector<double>& validation = plateau.record().history.validation_loss;
  ASSERT_LT(validation.size(), 100U);
  ASSERT_GT(validation.size(), 2U);
  for (size_t n = 3; n <= validation.size(); ++n) {
    const auto end = validation.begin() + static_cast<std::ptrdiff_t>(n), recent = end - 2;
    const bool stops = *std::min_element(recent, end) >= *std::min_element(validation.begin(), recent) - 0.01;
    EXPECT_EQ(stops, n == validation.size()) << n;
  }
}

// Returns settings with which a regression diverges within a few steps.
Settings too_fast() {
  Settings settings = small_settings();
  set_layer(settings, 5, linear(1, true));
  settings.loss = Loss::mse;
  settings.optimizer = {ops::Optimizer::sgd, 1e6, 0, 0.9, 0, 0};
  return settings;
}

TEST_P(Trainings, EndIfTheLossIsNotANumber) {
  const Pictures pictures(true);
  const ResidentData data(*device_, pictures.data);
  const Settings settings = too_fast();
  const Network network = make_network(settings, {6, 6, 1, false}, 1);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  Training training(world_->host(), *device_, data, network, settings, task_of());
  train(training, table);
  EXPECT_TRUE(training.record().diverged);
  const std::vector<double>& loss = training.record().history.train_loss;
  for (size_t e = 0; e < loss.size(); ++e) EXPECT_EQ(std::isfinite(loss[e]), e + 1 < loss.size()) << e;
  EXPECT_TRUE(training.record().history.validation_loss.size() < loss.size());
}

// Training checks for a stop after every 8 of its 240 batches, so 30 times if it continues.
TEST_P(Trainings, EndSoonAfterTheLossIsNotANumber) {
  const Pictures pictures(true);
  const ResidentData data(*device_, pictures.data);
  Settings settings = too_fast();
  settings.batch_size = 1;
  settings.epochs = 1;
  const Network network = make_network(settings, {6, 6, 1, false}, 1);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  Training training(world_->host(), *device_, data, network, settings, task_of());
  train(training, table);
  EXPECT_TRUE(training.record().diverged);
  EXPECT_EQ(training.record().epochs(), 1);
  EXPECT_EQ(sink.patience, kNever - 1);
}

TEST_P(Trainings, EndAsDivergedIfTheirLastStepDiverged) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  Settings settings = small_settings();
  settings.epochs = 1;
  settings.batch_size = kRows;  // takes one step, after a finite loss
  settings.optimizer = {ops::Optimizer::sgd, 1e38, 0, 0, 0, 0};
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  Sink sink{kNever};
  const mk_fit_sink table = sink.table();
  Training training(world_->host(), *device_, data, network, settings, task_of());
  train(training, table);
  EXPECT_TRUE(std::isfinite(training.record().history.train_loss.back()));
  EXPECT_TRUE(training.record().diverged);
}

// Tests epochs of thirty batches and of two; with two, every check falls at the end of an epoch.
TEST_P(Trainings, ReportTheirProgress) {
  const Pictures pictures;
  const ResidentData data(*device_, pictures.data);
  for (const int64_t batch : {8, 128}) {
    Settings settings = small_settings();
    settings.batch_size = batch;
    settings.epochs = 40;
    const Network network = make_network(settings, {6, 6, 1, false}, 4);
    Sink sink{kNever};
    const mk_fit_sink table = sink.table();
    Training training(world_->host(), *device_, data, network, settings, task_of());
    train(training, table);
    ASSERT_FALSE(sink.said.empty());
    for (const std::string& text : sink.said) {
      long long epoch = 0, epochs = 0;
      double loss = 0, right = 0, rate = 0;
      ASSERT_EQ(std::sscanf(text.c_str(), "epoch %lld/%lld: loss %lf, %lf %% right, %lf rows/s", &epoch, &epochs, &loss,
                            &right, &rate),
                5)
          << text;
      EXPECT_TRUE(epoch >= 1 && epoch <= 40 && epochs == 40) << text;
      EXPECT_TRUE(loss > 0 && loss < 10) << text;
      EXPECT_TRUE(right >= 0 && right <= 100) << text;
      EXPECT_GT(rate, 0) << text;
    }
  }
}

TEST_P(Trainings, UseThePlannedMemory) {
  const Pictures pictures(true);
  Settings settings = small_settings();
  settings.layers = layers({flatten(), normalise(0, 1, true), linear(70, true), dropout(0.2), linear(1, true)});
  settings.loss = Loss::mse;
  settings.standardise_target = true;
  settings.mirrors = true;
  const Network network = make_network(settings, {6, 6, 1, false}, 1);
  const ResidentData data(*device_, pictures.data);
  Training training(world_->host(), *device_, data, network, settings, task_of());
  const uint64_t planned = ResidentData::bytes(pictures.data) + Training::bytes(network, settings, kRows);
  EXPECT_EQ(world_->allocated_bytes(), planned);
  // At the end, Adam's two states and the gradients give way to a copy in host memory.
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
  World small(GetParam(), 0, {}, Engine::bytes(fitted.network, 256, false) - 1);
  fitted.predict(small.device(), pictures.x.data(), kRows, b.data(), q.data());
  EXPECT_EQ(a, b);
  EXPECT_EQ(p, q) << "layer after layer, because the device's memory is smaller than the network";
  double sum = 0;
  for (size_t c = 0; c < 4; ++c) sum += std::exp(static_cast<double>(p[c]));
  EXPECT_NEAR(sum, 1, 1e-6);

  std::ofstream(scratch.str() + "/manifest.json") << "{}";
  EXPECT_THROW(Fitted::load(scratch.str()), Error);
  // The weights are finite, but too large for finite outputs.
  std::fill(fitted.parameters.begin(), fitted.parameters.end(), 3e38F);
  EXPECT_THROW(fitted.predict(*device_, pictures.x.data(), kRows, a.data(), p.data()), Error);
}

// Returns the message of the error that making this network throws.
std::string refusal(const std::vector<LayerJson>& all, const Shape& input = {6, 6, 1, false}) {
  Settings s;
  s.layers = layers(all);
  try {
    make_network(s, input, 4);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    return e.what();
  }
  return "";
}

TEST(Networks, RefusalsNameTheLayerAndTheCure) {
  const auto has = [](const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  };
  has(refusal({}), {"no layers"});
  has(refusal({conv2d(4, 7, 1, 0, true), flatten(), linear(4, true)}), {"layers[0] (conv2d)", "7 x 7", "kernel_size"});
  has(refusal({max_pool2d(4, 4, 0), max_pool2d(2, 2, 0), flatten(), linear(4, true)}), {"layers[1] (max_pool2d)"});
  has(refusal({linear(4, true)}), {"layers[0] (linear)", "flatten"});
  const LayerJson conv = conv2d(4, 3, 1, 1, true);
  has(refusal({with(conv, {{"dilation", 4}}), flatten(), linear(4, true)}), {"3 x 3 with dilation 4", "add padding"});
  has(refusal({with(conv, {{"kernel_width", 9}}), flatten(), linear(4, true)}), {"3 x 9"});
  has(refusal({with(conv, {{"padding_width", 3}}), flatten(), linear(4, true)}), {"padding 3", "smaller"});
  has(refusal({with(conv, {{"groups", 2}}), flatten(), linear(4, true)}), {"1 x 6 x 6", "2 groups"});
  has(refusal({conv, with(conv2d(6, 3, 1, 1, true), {{"groups", 4}}), flatten(), linear(4, true)}),
      {"layers[1] (conv2d)", "6 filters", "4 groups"});
  has(refusal({with(conv, {{"same", true}}), flatten(), linear(4, true)}), {"same chooses the padding"});
  has(refusal({with(conv2d(4, 3, 2, 0, true), {{"same", true}}), flatten(), linear(4, true)}), {"stride 1"});
  has(refusal({conv_transpose2d(4, 3, 2, 1, 2, 1, true), flatten(), linear(4, true)}),
      {"conv_transpose2d", "output_padding 2", "smaller than the stride"});
  has(refusal({conv_transpose2d(4, 3, 2, 1, 1, 4, true), flatten(), linear(4, true)}),
      {"1 input and 4 output", "groups"});
  has(refusal({avg_pool2d(7, 1, 0, false, true), flatten(), linear(4, true)}), {"avg_pool2d", "7 x 7"});
  has(refusal({flatten(), conv2d(4, 1, 1, 0, true)}), {"layers[1] (conv2d)", "before flatten"});
  has(refusal({flatten(), linear(5, true)}), {"layers[1] (linear)", "5 outputs", "out_features to 4"});
  has(refusal({conv2d(4, 3, 1, 1, true)}), {"output of the network is images"});
  has(refusal({log_softmax(), flatten(), linear(4, true)}), {"layers[0] (log_softmax)", "last"});
  has(refusal({flatten(), normalise(0, 1, true), linear(4, true), normalise(0, 1, true)}),
      {"layers[3]", "first layer"});
  has(refusal({relu()}, {1, 1, 4, true}), {"no trainable parameters"});
  has(refusal({flatten(), linear(1'000'000'000, true), linear(1'000'000'000, true), linear(4, true)}), {"2^40"});
  EXPECT_EQ(refusal({conv2d(4, 3, 1, 1, true), relu(), flatten(), linear(4, true), log_softmax()}), "");
}

// PyTorch 2.15 gives these sizes for images of 6 x 6.
TEST(Networks, HaveTheShapesOfPyTorch) {
  const auto shape = [](const LayerJson& layer) {
    Settings s;
    s.layers = layers({layer, flatten(), linear(4, true)});
    return text(make_network(s, {6, 6, 1, false}, 4).layers.front()->out);
  };
  EXPECT_EQ(shape(with(conv2d(4, 4, 1, 0, true), {{"same", true}, {"kernel_width", 2}})), "4 x 6 x 6");
  EXPECT_EQ(shape(with(conv2d(4, 3, 2, 1, true), {{"stride_width", 3}, {"padding_width", 0}})), "4 x 3 x 2");
  EXPECT_EQ(shape(with(conv2d(4, 3, 1, 0, true), {{"dilation", 2}})), "4 x 2 x 2");
  EXPECT_EQ(shape(with(max_pool2d(3, 0, 1), {{"ceil_mode", true}})), "1 x 3 x 3");
  EXPECT_EQ(shape(max_pool2d(3, 0, 1)), "1 x 2 x 2");
  EXPECT_EQ(shape(with(max_pool2d(2, 4, 1), {{"ceil_mode", true}})),
            "1 x 2 x 2");                                          // a third window would begin in the padding
  EXPECT_EQ(shape(avg_pool2d(2, 3, 0, true, true)), "1 x 2 x 2");  // a third window would begin outside the image
  EXPECT_EQ(shape(conv_transpose2d(3, 3, 2, 1, 1, 1, true)), "3 x 12 x 12");
  EXPECT_EQ(shape(with(conv_transpose2d(3, 2, 1, 0, 0, 1, true), {{"dilation", 3}})), "3 x 9 x 9");
}

std::string augment_refusal(const std::string& json, const Shape& input) {
  try {
    augment_for(augment_of_option(json), input);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
    return e.what();
  }
  return "";
}

TEST(Augmentation, IsReadFromItsOption) {
  const ops::Augment a = augment_of_option(R"([{"type": "random_horizontal_flip", "p": 0.25},
    {"type": "random_vertical_flip", "p": 0.75}, {"type": "random_crop", "padding": 4},
    {"type": "random_rotation", "degrees": 15.0}, {"type": "random_erasing", "size": 8, "p": 0.125},
    {"type": "color_jitter", "brightness": 0.1, "contrast": 0.2, "saturation": 0.3}])");
  EXPECT_EQ(a, (ops::Augment{1, 1, 1, 4, 8, 0.25, 0.75, 15, 0.1, 0.2, 0.3, 0.125}));
  EXPECT_EQ(augment_for(a, {32, 30, 3, false}), (ops::Augment{32, 30, 3, 4, 8, 0.25, 0.75, 15, 0.1, 0.2, 0.3, 0.125}));
  EXPECT_EQ(augment_for(augment_of_option("[]"), {1, 1, 9, true}), ops::Augment{});
}

TEST(Augmentation, RefusesWhatItCannotChange) {
  const std::string crop = R"({"type": "random_crop", "padding": 4})";
  EXPECT_EQ(augment_refusal("[" + crop + "]", {1, 1, 784, true}),
            "augment changes images, but the data has rows of features; remove it");
  EXPECT_EQ(augment_refusal("[" + crop + "," + crop + "]", {28, 28, 1, false}),
            "augment: random_crop is there twice; keep one of the two");
  const std::string grey = augment_refusal(
      R"([{"type": "color_jitter", "brightness": 0.1, "contrast": 0.2, "saturation": 0.3}])", {28, 28, 1, false});
  EXPECT_NE(grey.find("1 x 28 x 28; remove them"), std::string::npos) << grey;
  EXPECT_EQ(
      augment_refusal(R"([{"type": "color_jitter", "brightness": 0, "contrast": 0, "saturation": 0, "hue": 0.1}])",
                      {28, 28, 1, false}),
      grey);
}

TEST(Networks, NameTheCureIfTheyDoNotFit) {
  const World world("host");
  Settings s;
  s.layers = layers({flatten(), linear(100'000'000, true), linear(4, true)});
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
