// Schedules, clipping, averages and the best weights: PyTorch's numbers, and the same bits after a cancel.
#include <cmath>
#include <map>

#include "candidate.hpp"
#include "forms.hpp"
#include "pictures.hpp"
#include "session.hpp"

namespace mokume::cnn_test {
namespace {

// ---- schedules -----------------------------------------------------------------------------------------------------

Schedule schedule(const char* json) { return schedules().read(json); }

// By epoch, with a base of 0.5.
std::vector<double> rates(const Schedule& s, int64_t epochs) {
  std::vector<double> all;
  for (int64_t e = 0; e < epochs; ++e) all.push_back(learning_rate(s, 0.5, {e * 10, 10, epochs, 0}));
  return all;
}

// After epochs with these losses.
std::vector<double> reduced_rates(const Schedule& s, const std::vector<double>& losses) {
  std::vector<double> all;
  for (size_t e = 0; e < losses.size(); ++e)
    all.push_back(learning_rate(s, 0.5, {0, 10, 100, reductions(s, std::span(losses).first(e))}));
  return all;
}

void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-9) << i;
}

TEST(Schedules, GiveTheRatesOfPyTorch) {
  expect_near(rates(schedule(R"({"type": "cosine_restarts", "T_0": 2, "T_mult": 3, "eta_min": 0.1})"), 9),
              {0.5, 0.3, 0.5, 0.473205081, 0.4, 0.3, 0.2, 0.126794919, 0.5});
  expect_near(rates(schedule(R"({"type": "linear", "start_factor": 0.25, "end_factor": 0.75, "total_iters": 4})"), 6),
              {0.125, 0.1875, 0.25, 0.3125, 0.375, 0.375});
  expect_near(rates(schedule(R"({"type": "polynomial", "total_iters": 5, "power": 2})"), 7),
              {0.5, 0.32, 0.18, 0.08, 0.02, 0, 0});
  expect_near(rates(schedule(R"({"type": "polynomial", "total_iters": 0, "power": 1})"), 5), {0.5, 0.4, 0.3, 0.2, 0.1});
}

TEST(Schedules, LowerTheRateOnAPlateauAsPyTorchDoes) {
  const std::vector<double> losses = {1.0, 0.9, 0.89995, 0.9, 0.95, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6};
  expect_near(reduced_rates(schedule(R"({"type": "reduce_on_plateau", "factor": 0.5, "patience": 1, "threshold": 1e-4,
                "threshold_mode": "rel", "cooldown": 2, "min_lr": 0.2, "eps": 1e-8})"),
                            losses),
              {0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2});
  expect_near(reduced_rates(schedule(R"({"type": "reduce_on_plateau", "factor": 0.1, "patience": 0, "threshold": 0.2,
                "threshold_mode": "abs", "cooldown": 0, "min_lr": 0, "eps": 0.01})"),
                            losses),
              {0.5, 0.5, 0.05, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005, 0.005});
  EXPECT_EQ(reductions(schedule(R"({"type": "constant"})"), losses), 0);
}

// Three epochs of two steps rise to the first rate of the schedule, which then has the epochs that remain.
TEST(Schedules, BeginAfterTheWarmup) {
  Schedule s = schedule(R"({"type": "cosine", "eta_min": 0})");
  EXPECT_EQ(s.warmup_epochs, 0) << "a run of before has no such key";
  s.warmup_epochs = 3;
  s.warmup_factor = 0.25;
  std::vector<double> all;
  for (int64_t step = 0; step < 10; ++step) all.push_back(learning_rate(s, 0.8, {step, 2, 5, 0}));
  expect_near(all, {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.8, 0.4, 0.4});
  s = schedule(R"({"type": "one_cycle", "max_lr": 1, "pct_start": 0.3, "div_factor": 10, "final_div_factor": 100})");
  const Schedule plain = s;
  s.warmup_epochs = 1;
  for (int64_t step = 0; step < 8; ++step)
    EXPECT_EQ(learning_rate(s, 9, {step + 2, 2, 5, 0}), learning_rate(plain, 9, {step, 2, 4, 0})) << step;
  EXPECT_NEAR(learning_rate(s, 9, {0, 2, 5, 0}), 0.1 / 3, 1e-12);
  s = schedule(R"({"type": "reduce_on_plateau", "factor": 0.1, "patience": 0, "threshold": 0,
                   "threshold_mode": "rel", "cooldown": 0, "min_lr": 0, "eps": 0, "warmup_epochs": 2})");
  EXPECT_EQ(reductions(s, std::vector<double>{1, 2, 3, 4}), 1) << "the first two epochs do not count";
}

// ---- settings ------------------------------------------------------------------------------------------------------

class Given {
 public:
  Given& set(const std::string& key, const std::string& value) {
    given_[key] = value;
    return *this;
  }
  Settings read(bool classifies = true) {
    std::vector<mk_value> values;
    for (const mk_param& p : kParams) {
      std::string& text = given_.try_emplace(p.name, fallback(p)).first->second;
      mk_value v{};
      if (p.type == MK_PARAM_INTEGER) v.integer = std::stoll(text);
      if (p.type == MK_PARAM_REAL) v.real = std::stod(text);
      if (p.type == MK_PARAM_BOOL) v.integer = text == "true" ? 1 : 0;
      if (p.type == MK_PARAM_TEXT || p.type == MK_PARAM_FORM || p.type == MK_PARAM_FORMS) v.text = text.c_str();
      values.push_back(v);
    }
    return settings_of(values.data(), classifies);
  }
  std::string refusal(bool classifies = true) {
    try {
      read(classifies);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT);
      return e.what();
    }
    return "";
  }

 private:
  static std::string fallback(const mk_param& p) {
    const std::string name = p.name, text = p.fallback;
    if (name == "layers") return R"([{"type": "flatten"}, {"type": "linear", "out_features": 4, "bias": true}])";
    if (name == "optimizer") return R"({"type": "sgd", "lr": 0.1, "momentum": 0.0, "weight_decay": 0.0})";
    if (name == "scheduler") return R"({"type": "constant"})";
    if (name == "stop" || name == "parallel") return R"({"type": "none"})";
    return p.type == MK_PARAM_TEXT ? text.substr(1, text.size() - 2) : text;
  }
  std::map<std::string, std::string> given_;
};

TEST(Options, AreOffByDefault) {
  const Settings s = Given().read();
  EXPECT_TRUE(s.loss_form.is_plain());
  EXPECT_FALSE(s.weighted || s.optimizer.nesterov || s.stop.restore_best);
  EXPECT_EQ(s.ema_decay, 0);
  EXPECT_EQ(s.optimizer.clip, 0);
  EXPECT_EQ(s.optimizer.b, 0);
  EXPECT_EQ(s.accumulate, 1);
  EXPECT_EQ(s.mixup_alpha, 0);
  EXPECT_FALSE(s.muon.used());
  EXPECT_EQ(s.stop.monitor, "auto");
  EXPECT_EQ(s.last_epoch(), s.epochs);
}

TEST(Options, SetTheOptimizer) {
  const Settings s = Given()
                         .set("optimizer", R"({"type": "muon", "lr": 0.02, "momentum": 0.9, "nesterov": false,
                              "ns_steps": 4, "weight_decay": 0.2, "adjust_lr_fn": "match_rms_adamw", "adamw_lr": 0.003,
                              "adamw_beta1": 0.8, "adamw_beta2": 0.99, "adamw_eps": 1e-7, "adamw_weight_decay": 0.05})")
                         .read();
  EXPECT_EQ(s.optimizer.kind, ops::Optimizer::adamw);
  EXPECT_EQ(s.optimizer.lr, 0.003);
  EXPECT_EQ(s.optimizer.weight_decay, 0.05);
  EXPECT_EQ(s.muon.lr, 0.02);
  EXPECT_EQ(s.muon.ns_steps, 4);
  EXPECT_FALSE(s.muon.nesterov);
  EXPECT_DOUBLE_EQ(muon_factor("original", 8, 2), 2);
  EXPECT_DOUBLE_EQ(muon_factor("original", 2, 8), 1);
  EXPECT_DOUBLE_EQ(muon_factor("spectral_unclamped", 2, 8), 0.5);
  EXPECT_DOUBLE_EQ(muon_factor("match_rms_adamw", 4, 25), 1);
  const char* const amsgrad = R"({"type": "adam", "lr": 0.1, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8,
                                  "weight_decay": 0.0, "amsgrad": true})";
  EXPECT_TRUE(Given().set("optimizer", amsgrad).read().optimizer.amsgrad);
}

TEST(Options, SetTheLoss) {
  EXPECT_EQ(Given().set("label_smoothing", "0.1").read().loss_form.softmax.smoothing, 0.1);
  EXPECT_EQ(Given().set("loss", "focal").read().loss_form.softmax.gamma, 2);
  const ops::DistanceForm huber = Given().set("loss", "huber").set("huber_delta", "3").read(false).loss_form.distance;
  EXPECT_EQ(huber.distance, ops::Distance::huber);
  EXPECT_EQ(huber.delta, 3);
  EXPECT_EQ(Given().set("loss", "l1").read(false).loss_form.distance.delta, 0);
  EXPECT_EQ(Given().set("loss", "smooth_l1").read(false).loss_form.distance.delta, 1);
  EXPECT_TRUE(Given().set("class_weight", "balanced").read().weighted);
}

// Losses that fall while the accuracy has its best value early, and a mean square of another shape.
TEST(StopRules, FollowTheMonitoredCurve) {
  const auto best = [](const char* monitor, bool classifies, bool validates, size_t epochs) {
    Record record{classifies, {StopRule::Kind::plateau, 0, 2, 0, true, monitor}};
    const double loss[] = {5, 4, 3, 2.5, 2}, squares[] = {9, 7, 8, 6, 10};
    const int64_t hits[] = {5, 8, 8, 6, 7}, validated_hits[] = {3, 5, 9, 9, 2};
    for (size_t e = 0; e < epochs && !record.stopped; ++e) {
      record.add_epoch({loss[e], 0, hits[e], 10});
      if (validates) record.add_validation({loss[e == 0 ? 0 : 5 - e], squares[e], validated_hits[e], 10});
      record.apply_rule();
    }
    return std::pair(record.best_epoch(), record.epochs());
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(best("auto", true, true, 5), (Pair{1, 4})) << "losses of 5, 2, 2.5, 3, 4";
  EXPECT_EQ(best("validation_loss", true, true, 5), (Pair{1, 4}));
  EXPECT_EQ(best("validation_accuracy", true, true, 5), (Pair{2, 5}));
  EXPECT_EQ(best("train_loss", true, true, 5), (Pair{4, 5}));
  EXPECT_EQ(best("train_accuracy", true, true, 5), (Pair{1, 4}));
  EXPECT_EQ(best("validation_accuracy", true, false, 5), (Pair{1, 4})) << "of the training";
  EXPECT_EQ(best("validation_mse", false, true, 5), (Pair{3, 5}));
  EXPECT_EQ(best("validation_mse", false, false, 5), (Pair{4, 5})) << "the loss of the training";
}

TEST(Mixup, SharesHaveABetaDistribution) {
  constexpr int64_t kBatches = 20000;
  for (const double alpha : {0.01, 0.2, 1.0, 4.0}) {
    double sum = 0, squares = 0;
    for (int64_t b = 0; b < kBatches; ++b) {
      const double share = mixup_share(alpha, 3, 1, b);
      ASSERT_TRUE(share >= 0 && share <= 1) << share;
      sum += share, squares += (share - 0.5) * (share - 0.5);
    }
    EXPECT_NEAR(sum / kBatches, 0.5, 0.015) << alpha;
    EXPECT_NEAR(squares / kBatches * 4 * (2 * alpha + 1), 1, 0.03) << alpha;
  }
  EXPECT_NE(mixup_share(1, 3, 1, 0), mixup_share(1, 3, 1, 1));
  EXPECT_NE(mixup_share(1, 3, 1, 0), mixup_share(1, 3, 2, 0));
  EXPECT_NE(mixup_share(1, 3, 1, 0), mixup_share(1, 4, 1, 0));
}

TEST(Refits, HaveTheMedianOfTheEpochsOfTheFolds) {
  EXPECT_EQ(chosen_epochs(""), 0);
  EXPECT_EQ(chosen_epochs("the training diverged: its loss is not finite in epoch 3; lower lr or scale the data"), 0);
  EXPECT_EQ(chosen_epochs("epochs=12"), 12);
  EXPECT_EQ(chosen_epochs("epochs=10\nepochs=12 best=4\nepochs=7"), 7);
  EXPECT_EQ(chosen_epochs("epochs=3\nepochs=6\nunsure=2"), 5);
  EXPECT_EQ(chosen_epochs("epochs=0"), 0);
}

TEST(Options, AreRefusedWhereTheyMeanNothing) {
  const char* const nesterov = R"({"type": "sgd", "lr": 0.1, "momentum": 0.0, "weight_decay": 0.0, "nesterov": true})";
  const char* const damped = R"({"type": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.0, "nesterov": true,
                                 "dampening": 0.5})";
  const char* const late = R"({"type": "constant", "warmup_epochs": 10})";
  const auto expect = [](const std::string& refusal, const char* part) {
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  };
  expect(Given().set("optimizer", nesterov).refusal(), "nesterov needs a momentum above 0 and a dampening of 0");
  expect(Given().set("optimizer", damped).refusal(), "nesterov needs a momentum above 0 and a dampening of 0");
  expect(Given().set("scheduler", late).refusal(), "warmup_epochs is 10, but the training has 10 epochs: lower it");
  expect(Given().set("label_smoothing", "0.1").refusal(false), "label_smoothing needs classes");
  expect(Given().set("label_smoothing", "0.1").set("loss", "focal").refusal(), "exclude each other");
  expect(Given().set("class_weight", "balanced").refusal(false), "class_weight needs classes");
  expect(Given().set("loss", "huber").refusal(), "loss = \"huber\" needs a numeric target");
  const char* const apart = R"({"type": "local_sgd", "period": 4, "warmup_epochs": 0, "growth": 1, "adapt": false})";
  expect(Given().set("gradient_accumulation_steps", "2").set("parallel", apart).refusal(),
         "gradient_accumulation_steps and parallel = \"local_sgd\"");
  const auto monitor = [](const std::string& name) {
    return R"({"type": "plateau", "patience": 5, "min_delta": 0.0, "monitor": ")" + name + R"("})";
  };
  expect(Given().set("stop", monitor("validation_mse")).refusal(),
         "monitor = \"validation_mse\" needs a numeric target");
  expect(Given().set("stop", monitor("train_accuracy")).refusal(false), "monitor = \"train_accuracy\" needs classes");
  expect(Given().set("loss", "focal").refusal(false), "loss = \"focal\" needs classes");
}

// ---- weights of rows -----------------------------------------------------------------------------------------------

TEST(RowWeights, MultiplyThoseOfClassesAndRows) {
  const int32_t labels[] = {0, 1, 1, 1, 0, 1};
  const float weights[] = {1, 2, 0, 1, 3, 1};
  const char* const names[] = {"cat", "dog"};
  mk_data data{};
  data.rows = 6;
  data.labels = labels;
  data.n_classes = 2;
  data.class_names = names;
  const uint32_t rows[] = {0, 1, 2, 3, 4, 5};
  const int32_t folds[] = {0, 0, 1, 1, 1, 1};
  const mk_sample sample{6, rows, folds};
  mk_experiment experiment{};
  experiment.train = &data;
  experiment.samples = &sample;
  Settings settings;
  EXPECT_TRUE(row_weights(experiment, settings, 0, 0).empty());
  settings.weighted = true;
  settings.class_weight = "dog=0.5";
  EXPECT_EQ(row_weights(experiment, settings, 0, 0), (std::vector<float>{1, 0.5, 0.5, 0.5, 1, 0.5}));
  data.weights = weights;
  EXPECT_EQ(row_weights(experiment, settings, 0, 0), (std::vector<float>{1, 1, 0, 0.5, 3, 0.5}));
  settings.class_weight = "balanced";
  data.weights = nullptr;  // fold 0 trains on one cat and three dogs
  EXPECT_EQ(row_weights(experiment, settings, 0, 0)[0], 2);
  EXPECT_FLOAT_EQ(row_weights(experiment, settings, 0, 0)[1], 4.0F / 6);
  EXPECT_EQ(row_weights(experiment, settings, 0, MK_ALL_ROWS)[0], 1.5F);
  settings.class_weight = "cow=2";
  EXPECT_THROW(row_weights(experiment, settings, 0, 0), Error);
}

// ---- trainings -----------------------------------------------------------------------------------------------------

// With a rate of almost 0 the weights stay, so all losses have the same squares, in the target's own unit.
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

// All that a training keeps besides weights and states.
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

// Steps of three batches, one of which is within a step when the training is interrupted after eight or more.
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

TEST_P(OptionsOf, ResumeToTheSameBytes) {
  for (const Settings& settings : {with_everything(), with_muon_and_accumulation(), with_amsgrad()}) {
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

// One step of a linear classifier, by hand.
TEST_P(OptionsOf, LearnFromMixturesOfTwoRows) {
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(4, true)});
  s.optimizer = {ops::Optimizer::sgd, 0.5, 0, 0, 0, 0};
  s.epochs = 1;
  s.batch_size = 240;
  s.shuffle = false;
  s.mixup_alpha = 0.7;
  const auto trained = run(s);
  const double share = mixup_share(0.7, 11, 0, 0);
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
      x.push_back(share * double{pictures_.x[one * 36 + f]} + (1 - share) * double{pictures_.x[other * 36 + f]});
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

// Without dropout, and where batches divide the steps, the mean of the gradients is that of the larger batch.
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
  // 20 batches in steps of 3: the last step has two, and a step of all batches is one step.
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

// A step of Muon without decay moves a weight by its rate times a matrix whose singular values are near 1: the product
// of the matrix with its transpose has a diagonal near 1.
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

// The best epoch may lie before the checkpoint, so its squares must be in it.
TEST(Regression, RemembersTheBestEpochOverACheckpoint) {
  const Pictures pictures(true);
  const World world("host");
  const sdk::Device device = world.device();
  const ResidentData data(device, pictures.data);
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(1, true)});
  s.loss = Loss::mse;
  s.loss_form = loss_form("l1", {}, false);
  s.optimizer = {ops::Optimizer::sgd, 0.3, 0, 0, 0, 0};  // too large: the loss jumps
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

// A training that ends before its schedule does takes the steps of the longer one.
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
  s.optimizer = {ops::Optimizer::sgd, 0.9, 0, 0.9, 0, 0};  // too large: the loss jumps
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

// A limit that no gradient reaches changes only the order of sums where steps are fused, and here none are. A small one
// bounds a step of SGD.
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
  for (const Settings& s : {with_everything(), with_muon_and_accumulation(), with_amsgrad()}) {
    const Network network = make_network(s, {6, 6, 1, false}, 4);
    const uint64_t before = world_->allocated_bytes();
    const Training training(world_->host(), *device_, *data_, network, s, task_of());
    EXPECT_LE(world_->allocated_bytes() - before, Training::bytes(network, s, kRows));
  }
}

}  // namespace
}  // namespace mokume::cnn_test
