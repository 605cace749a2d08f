// Tests clipping, averages, mixtures, accumulated gradients and the best weights: by hand, and for equal bits after a
// cancellation.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "pictures.hpp"
#include "saved/fitted.hpp"

namespace mokume::cnn_test {
namespace {

// With a rate close to 0, the weights do not change, so all losses have the same squares, in the target's own unit.
TEST(Regression, MeasuresSquaresWhateverTheLoss) {
  Pictures pictures(true);
  for (float& t : pictures.targets) t = 3 * t + 100;
  const World world("host");
  const sdk::Device device = world.device();
  const ResidentData data(device, pictures.data);
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(1, true)});
  s.loss = Loss::mse;
  s.epochs = 1;
  s.optimizer = {ops::Optimizer::sgd, 1e-12, 0, 0, 0, 0};
  const auto score = [&](const char* loss) {
    s.loss_form = loss_form(loss, {0, 0, 0.5, 0.5}, false);
    const Network network = make_network(s, {6, 6, 1, false}, 1);
    Training training(world.host(), device, data, network, s, task_of());
    run_epoch(training);
    return training.record().validated();
  };
  for (const bool standardised : {false, true}) {
    s.standardise_target = standardised;
    for (const bool best : {false, true}) {
      s.stop.restore_best = best;
      const double squares = score("mse").loss;
      for (const char* loss : {"huber", "l1", "smooth_l1"})
        EXPECT_NEAR(score(loss).squares / squares, 1, 1e-5) << loss << standardised << best;
      EXPECT_LT(score("l1").loss * score("l1").loss, squares);
      EXPECT_GT(score("l1").loss * score("l1").loss, 0.25 * squares) << "in the same unit";
    }
  }
}

class OptionsOf : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    world_ = std::make_unique<World>(GetParam());
    if (!world_->present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
    device_.emplace(world_->device());
    data_.emplace(*device_, pictures_.data);
  }
  std::unique_ptr<Training> run(const Settings& settings, const std::string& scratch = "", int patience = kNever,
                                const std::vector<float>& weights = {}) {
    networks_.push_back(std::make_unique<Network>(make_network(settings, {6, 6, 1, false}, 4)));
    TrainingTask task = task_of(scratch);
    task.weights = weights;
    auto training =
        std::make_unique<Training>(world_->host(), *device_, *data_, *networks_.back(), settings, std::move(task));
    Sink sink{patience};
    try {
      train(*training, sink.table());
      EXPECT_EQ(patience, kNever);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_CANCELLED) << e.what();
    }
    return training;
  }

  Pictures pictures_;
  std::unique_ptr<World> world_;
  std::optional<sdk::Device> device_;
  std::optional<ResidentData> data_;
  std::vector<std::unique_ptr<Network>> networks_;
};
INSTANTIATE_TEST_SUITE_P(Devices, OptionsOf, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

// Returns settings with all that training keeps in addition to parameters and optimizer states.
Settings with_everything() {
  Settings s = small_settings();
  s.optimizer = {ops::Optimizer::adamw, 0.02, 0.01, 0.9, 0.999, 1e-8, false, 0.3};
  s.schedule.kind = Schedule::Kind::reduce_on_plateau;
  s.schedule.patience = 0;
  s.schedule.threshold = 0.2;
  s.schedule.factor = 0.7;
  s.schedule.warmup_epochs = 1;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.patience = 4;
  s.stop.restore_best = true;
  s.ema_decay = 0.8;
  s.loss_form.softmax.smoothing = 0.1;
  return s;
}

Muon muon_settings() { return {0.02, 0.1, 0.9, true, 5, "original"}; }

// Returns settings with steps of three batches, so that an interruption after 8 or 16 batches falls within a step.
Settings with_muon_and_accumulation() {
  Settings s = small_settings();
  s.layers = graph_settings().layers;
  s.optimizer = {ops::Optimizer::adamw, 0.01, 0.01, 0.9, 0.999, 1e-8, false, 0.3};
  s.muon = muon_settings();
  s.accumulate = 3;
  s.mixup_alpha = 0.4;
  s.ema_decay = 0.8;
  return s;
}

Settings with_amsgrad() {
  Settings s = small_settings();
  s.optimizer.amsgrad = true;
  return s;
}

Settings with_cutmix() {
  Settings s = small_settings();
  s.cutmix_alpha = 1;
  return s;
}

TEST_P(OptionsOf, ResumeToTheSameBytes) {
  for (const Settings& settings : {with_everything(), with_muon_and_accumulation(), with_amsgrad(), with_cutmix()}) {
    const auto whole = run(settings);
    if (settings.schedule.kind == Schedule::Kind::reduce_on_plateau) {
      EXPECT_GT(whole->position().reductions, 0) << "the schedule does something";
    }
    const Outcome expected = outcome_of(*whole);
    const std::vector<float> best = whole->take_parameters();
    for (const int patience : {0, 1}) {
      const Scratch scratch;
      run(settings, scratch.str(), patience);
      ASSERT_TRUE(std::filesystem::exists(scratch.str() + "/checkpoint.safetensors"));
      const auto resumed = run(settings, scratch.str());
      EXPECT_EQ(outcome_of(*resumed), expected) << patience;
      EXPECT_EQ(resumed->take_parameters(), best) << patience;
    }
  }
}

class Mixtures : public OptionsOf {
 protected:
  // Computes one step of a linear classifier by hand. `kept` tells which share of a feature is the row's own, and
  // `share` is the share of its label.
  void expect_step(Settings s, double share, const std::function<double(size_t)>& kept) {
    s.layers = layers({flatten(), linear(4, true)});
    s.optimizer = {ops::Optimizer::sgd, 0.5, 0, 0, 0, 0};
    s.epochs = 1;
    s.batch_size = 240;
    s.shuffle = false;
    const auto trained = run(s);
    ASSERT_TRUE(share > 0.01 && share < 0.99) << share;
    const std::vector<float> before = all_initial_values(trained->network(), 11, 0);
    std::vector<double> weights(before.begin(), before.end()), after = weights;
    const std::vector<int32_t> rows = task_of().train;
    double loss = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto one = static_cast<size_t>(rows[i]),
                 other = static_cast<size_t>(rows[(i + rows.size() - 1) % rows.size()]);
      std::vector<double> x, logits(weights.end() - 4, weights.end());
      for (size_t f = 0; f < 36; ++f) {
        x.push_back(kept(f) * double{pictures_.x[one * 36 + f]} + (1 - kept(f)) * double{pictures_.x[other * 36 + f]});
        for (size_t k = 0; k < 4; ++k) logits[k] += x[f] * weights[f * 4 + k];
      }
      double sum = 0;
      for (const double l : logits) sum += std::exp(l);
      for (size_t k = 0; k < 4; ++k) {
        const double wanted = (pictures_.labels[one] == static_cast<int32_t>(k) ? share : 0) +
                              (pictures_.labels[other] == static_cast<int32_t>(k) ? 1 - share : 0);
        const double p = std::exp(logits[k]) / sum, move = 0.5 / 240 * (p - wanted);
        loss -= wanted * std::log(p) / 240;
        for (size_t f = 0; f < 36; ++f) after[f * 4 + k] -= move * x[f];
        after[144 + k] -= move;
      }
    }
    EXPECT_NEAR(trained->record().history.train_loss[0], loss, 1e-5 * loss);
    const std::vector<float> got = trained->engine().parameters().all();
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], after[i], 1e-5) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Mixtures, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(Mixtures, AddTwoRows) {
  Settings s = small_settings();
  s.mixup_alpha = 0.7;
  const double share = mixup_share(0.7, 11, 0, 0);
  expect_step(s, share, [&](size_t) { return share; });
}

TEST_P(Mixtures, CutARectangleFromAnotherRow) {
  Settings s = small_settings();
  s.cutmix_alpha = 1;
  const Shape image{6, 6, 1, false};
  const CutBox box = cutmix_box(1, image, 11, 0, 0);
  expect_step(s, box.share(image), [&](size_t f) {
    const auto y = static_cast<int64_t>(f / 6), x = static_cast<int64_t>(f % 6);
    const bool cut = y >= box.top && y < box.top + box.height && x >= box.left && x < box.left + box.width;
    return cut ? 0.0 : 1.0;
  });
}

// The outputs of validation, predictions and saved models are the means for images and their mirror images.
TEST_P(OptionsOf, PredictWithMirrorImages) {
  Settings settings = small_settings();
  settings.epochs = 1;
  settings.mirrors = true;
  const Network network = make_network(settings, {6, 6, 1, false}, 4);
  const auto training = run(settings);
  Fitted fitted;
  fitted.settings = settings;
  fitted.network = network;
  fitted.parameters = training->engine().parameters().all();
  fitted.class_names = {"a", "b", "c", "d"};
  const Scratch scratch;
  fitted.save(scratch.str());
  std::vector<int32_t> labels(kRows);
  const auto scores_of = [&](const Fitted& one, const std::vector<float>& x) {
    std::vector<float> scores(kRows * 4);
    one.predict(*device_, x.data(), kRows, labels.data(), scores.data());
    return scores;
  };
  const std::vector<float> both = scores_of(Fitted::load(scratch.str()), pictures_.x);
  EXPECT_EQ(both, scores_of(fitted, pictures_.x));
  double loss = 0;
  int64_t hits = 0;
  for (const int32_t r : task_of().validate) {
    const auto row = static_cast<size_t>(r);
    loss -= double{both[row * 4 + static_cast<size_t>(pictures_.labels[row])]};
    hits += labels[row] == pictures_.labels[row] ? 1 : 0;
  }
  const auto rows = static_cast<double>(task_of().validate.size());
  EXPECT_NEAR(training->record().validated().loss, loss / rows, 1e-5);
  EXPECT_EQ(training->record().validated().hits, hits);
  fitted.settings.mirrors = false;
  const std::vector<float> plain = scores_of(fitted, pictures_.x);
  std::vector<float> turned = pictures_.x;
  for (auto line = turned.begin(); line != turned.end(); line += 6) std::reverse(line, line + 6);
  const std::vector<float> other = scores_of(fitted, turned);
  double largest = 0;
  for (size_t r = 0; r < kRows; ++r) {
    std::array<double, 4> mean{};
    double sum = 0;
    for (size_t k = 0; k < 4; ++k) {
      mean[k] = (double{plain[r * 4 + k]} + double{other[r * 4 + k]}) / 2;
      sum += std::exp(mean[k]);
      largest = std::max(largest, std::fabs(double{plain[r * 4 + k]} - double{both[r * 4 + k]}));
    }
    for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(double{both[r * 4 + k]}, mean[k] - std::log(sum), 1e-5) << r;
  }
  EXPECT_GT(largest, 1e-3);
}

// Without dropout, and if the number of batches is a multiple of the step, the mean of the gradients equals the
// gradient of the larger batch.
TEST_P(OptionsOf, AccumulateTheGradientsOfALargerBatch) {
  Settings s = small_settings();
  set_layer(s, 3, relu());
  s.optimizer = {ops::Optimizer::sgd, 0.1, 0, 0.9, 0, 0};
  s.epochs = 2;
  s.batch_size = 48;
  const auto large = run(s);
  s.batch_size = 12;
  s.accumulate = 4;
  const auto parts = run(s);
  EXPECT_EQ(parts->position().step(), large->position().step());
  const std::vector<float> want = large->engine().parameters().all(), got = parts->engine().parameters().all();
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
  s.accumulate = 1;
  EXPECT_NE(run(s)->record().history.train_loss, parts->record().history.train_loss);
  // In 20 batches with steps of 3, the last step has two. A step of at least all batches is a single step.
  s.accumulate = 3;
  s.epochs = 1;
  EXPECT_EQ(run(s)->position().step(), 7);
  s.accumulate = 100;
  const auto whole = run(s);
  s.accumulate = 1;
  s.batch_size = 240;
  const auto one = run(s);
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(whole->engine().parameters().all()[i], one->engine().parameters().all()[i], 1e-5) << i;
}

// A step of Muon without decay moves a weight by its rate times a matrix whose singular values are near 1, so the
// product of this matrix with its transpose has a diagonal near 1.
TEST_P(OptionsOf, MoveWeightsByOrthogonalMatrices) {
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(24, false), relu(), linear(50, false), relu(), linear(4, false)});
  s.epochs = 1;
  s.batch_size = 240;
  s.optimizer = {ops::Optimizer::adamw, 1e-3, 0, 0.9, 0.999, 1e-8};
  s.muon = {0.5, 0, 0.9, true, 5, "original"};
  const auto trained = run(s);
  const std::vector<float> before = all_initial_values(trained->network(), 11, 0);
  const std::vector<float> after = trained->engine().parameters().all();
  for (const int p : muon_weights(trained->network().parameters)) {
    const Parameter& w = trained->network().parameters[static_cast<size_t>(p)];
    const int64_t rows = w.rows(), columns = w.outputs, side = std::min(rows, columns);
    const double rate = 0.5 * muon_factor("original", columns, rows);
    double squares = 0;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const double d =
          (double{before[static_cast<size_t>(w.offset + i)]} - double{after[static_cast<size_t>(w.offset + i)]}) / rate;
      squares += d * d;
    }
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(side)), 0.9, 0.25) << w.name;
  }
  const Parameter& last = trained->network().parameters.back();
  for (int64_t i = 0; i < last.size(); ++i)
    ASSERT_NEAR(before[static_cast<size_t>(last.offset + i)], after[static_cast<size_t>(last.offset + i)], 1.01e-3)
        << "the last layer takes the steps of AdamW";
}

// The best epoch may precede the checkpoint, so the checkpoint must contain its squares.
TEST(Regression, RemembersTheBestEpochOverACheckpoint) {
  const Pictures pictures(true);
  const World world("host");
  const sdk::Device device = world.device();
  const ResidentData data(device, pictures.data);
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(1, true)});
  s.loss = Loss::mse;
  s.loss_form = loss_form("l1", {}, false);
  s.optimizer = {ops::Optimizer::sgd, 0.3, 0, 0, 0, 0};  // this rate makes the loss jump
  s.epochs = 12;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.patience = 100;
  s.stop.restore_best = true;
  const Network network = make_network(s, {6, 6, 1, false}, 1);
  const auto score = [&](const std::string& scratch, int patience) {
    Training training(world.host(), device, data, network, s, task_of(scratch));
    Sink sink{patience};
    if (patience == kNever)
      train(training, sink.table());
    else
      EXPECT_THROW(train(training, sink.table()), Error);
    return training.record().validated();
  };
  const Score whole = score("", kNever);
  const Scratch scratch;
  score(scratch.str(), 1);
  const Score resumed = score(scratch.str(), kNever);
  EXPECT_GT(resumed.squares, 0);
  EXPECT_EQ(resumed.squares, whole.squares);
  EXPECT_EQ(resumed.loss, whole.loss);
}

// If training stops before the end of its schedule, its steps until then do not change.
TEST_P(OptionsOf, EndBeforeTheSchedule) {
  Settings s = small_settings();
  s.schedule.kind = Schedule::Kind::cosine;
  const auto whole = run(s);
  s.stop_after = 3;
  const auto part = run(s);
  EXPECT_EQ(part->record().epochs(), 3);
  EXPECT_EQ(part->share_done(), 1);
  const std::vector<double>& losses = whole->record().history.train_loss;
  EXPECT_EQ(part->record().history.train_loss, std::vector<double>(losses.begin(), losses.begin() + 3));
}

TEST_P(OptionsOf, GiveTheWeightsOfTheBestEpoch) {
  Settings s = small_settings();
  s.optimizer = {ops::Optimizer::sgd, 0.9, 0, 0.9, 0, 0};  // this rate makes the loss jump
  s.epochs = 8;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.patience = 100;
  s.stop.restore_best = true;
  const auto all = run(s);
  const int64_t best = all->record().best_epoch();
  ASSERT_TRUE(best >= 0 && best + 1 < all->record().epochs()) << "the test needs a best epoch before the last";
  s.epochs = best + 1;
  s.stop = {};
  const auto shorter = run(s);
  EXPECT_EQ(all->record().validated().loss, shorter->record().validation.loss);
  EXPECT_EQ(all->record().validated().hits, shorter->record().validation.hits);
  EXPECT_EQ(all->take_parameters(), shorter->engine().parameters().all());
}

// A limit that no gradient reaches changes only the order of sums in fused steps, and this network has no fused steps.
// A small limit bounds a step of SGD.
TEST_P(OptionsOf, ClipTheNormOfAllGradients) {
  Settings s = small_settings();
  s.epochs = 1;
  s.batch_size = 240;
  s.optimizer = {ops::Optimizer::sgd, 0.5, 0, 0, 0, 0};
  const auto plain = run(s);
  s.optimizer.clip = 1e6;
  EXPECT_EQ(run(s)->engine().parameters().all(), plain->engine().parameters().all());
  s.optimizer.clip = 1e-3;
  const auto clipped = run(s);
  const std::vector<float> before = all_initial_values(clipped->network(), 11, 0);
  const std::vector<float> after = clipped->engine().parameters().all(), far = plain->engine().parameters().all();
  double moved = 0, unclipped = 0, along = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const double a = double{after[i]} - double{before[i]}, b = double{far[i]} - double{before[i]};
    moved += a * a, unclipped += b * b, along += a * b;
  }
  EXPECT_GT(std::sqrt(unclipped), 0.01);
  EXPECT_NEAR(std::sqrt(moved), 0.5 * 1e-3, 1e-6);
  EXPECT_NEAR(along / std::sqrt(moved * unclipped), 1, 1e-3) << "the direction stays";
}

// Validation and result use the average, which lags behind the weights.
TEST_P(OptionsOf, ValidateWithTheAverage) {
  Settings s = small_settings();
  s.epochs = 2;
  const auto plain = run(s);
  s.ema_decay = 0.95;
  const auto averaged = run(s);
  EXPECT_EQ(averaged->engine().parameters().all(), plain->engine().parameters().all()) << "the training is the same";
  EXPECT_EQ(averaged->record().history.train_loss, plain->record().history.train_loss);
  EXPECT_NE(averaged->record().history.validation_loss, plain->record().history.validation_loss);
  const std::vector<float> average = averaged->engine().predicting().all();
  EXPECT_NE(average, plain->engine().parameters().all());
  EXPECT_EQ(averaged->take_parameters(), average);
}

TEST_P(OptionsOf, LeaveOutRowsWithoutWeight) {
  Settings s = small_settings();
  s.epochs = 1;
  s.weighted = true;
  std::vector<float> weights(kRows, 1);
  for (size_t r = 0; r < weights.size(); r += 3) weights[r] = 0;
  const auto some = run(s, "", kNever, weights);
  for (size_t r = 0; r < weights.size(); r += 3) pictures_.labels[r] = (pictures_.labels[r] + 1) % 4;
  data_.emplace(*device_, pictures_.data);
  EXPECT_EQ(run(s, "", kNever, weights)->engine().parameters().all(), some->engine().parameters().all());
  EXPECT_NE(run(s, "", kNever, std::vector<float>(kRows, 1))->engine().parameters().all(),
            some->engine().parameters().all());
  const auto none = run(s, "", kNever, std::vector<float>(kRows, 0));
  EXPECT_EQ(none->engine().parameters().all(), all_initial_values(none->network(), 11, 0)) << "nothing is learned";
}

TEST_P(OptionsOf, StayWithinThePlannedMemory) {
  data_->inputs(), data_->targets();
  for (const Settings& s : {with_everything(), with_muon_and_accumulation(), with_amsgrad()}) {
    const Network network = make_network(s, {6, 6, 1, false}, 4);
    const uint64_t before = world_->allocated_bytes();
    const Training training(world_->host(), *device_, *data_, network, s, task_of());
    EXPECT_LE(world_->allocated_bytes() - before, Training::bytes(network, s, kRows));
  }
}

}  // namespace
}  // namespace mokume::cnn_test
