// Tests schedules, the keys of a network, stop rules and the weights of rows.
#include <cmath>
#include <map>
#include <set>

#include "candidate.hpp"
#include "forms.hpp"
#include "pictures.hpp"
#include "session.hpp"

namespace mokume::cnn_test {
namespace {

// ---- schedules -----------------------------------------------------------------------------------------------------

Schedule schedule(const char* json) { return schedules().read(json); }

// Returns the rate of each epoch, with a base rate of 0.5.
std::vector<double> rates(const Schedule& s, int64_t epochs) {
  std::vector<double> all;
  for (int64_t e = 0; e < epochs; ++e) all.push_back(learning_rate(s, 0.5, {e * 10, 10, epochs, 0}));
  return all;
}

// Returns the rates after epochs with these losses.
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

// For three epochs of two steps, the rate rises to the schedule's initial rate. The schedule covers the other epochs.
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
    return cnn::settings_of(values.data(), classifies);
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
  EXPECT_EQ(s.cutmix_alpha, 0);
  EXPECT_FALSE(s.mixes());
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

// The losses fall while the accuracy has its best value early, and the mean square has another shape.
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

// Each epoch improves by 0.06, and the fourth one is worse. An improvement of 0.1 takes two epochs, unless one must do.
TEST(StopRules, AnEpochCanHaveToImproveAlone) {
  const auto epochs = [](bool per_epoch, double min_delta) {
    Record record{true, {StopRule::Kind::plateau, 0, 3, min_delta, false, "train_loss", per_epoch}};
    for (const double loss : {1.0, 0.94, 0.88, 0.9, 0.82, 0.76, 0.7, 0.64}) {
      record.add_epoch({loss, 0, 5, 10});
      record.apply_rule();
      if (record.stopped) break;
    }
    return record.epochs();
  };
  EXPECT_EQ(epochs(false, 0.1), 8);
  EXPECT_EQ(epochs(true, 0.1), 4) << "three epochs after the first";
  EXPECT_EQ(epochs(true, 0.05), 8);
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

TEST(Cutmix, RectanglesLieInTheImageAndHaveTheSharesOfMixup) {
  const Shape image{30, 40, 3, false};
  constexpr int64_t kBatches = 5000;
  std::set<int64_t> tops, lefts;
  double whole = 0;  // counts boxes that the borders do not cut off
  for (int64_t b = 0; b < kBatches; ++b) {
    const CutBox box = cutmix_box(1, image, 3, 1, b);
    ASSERT_TRUE(box.top >= 0 && box.left >= 0 && box.height >= 0 && box.width >= 0);
    ASSERT_TRUE(box.top + box.height <= 30 && box.left + box.width <= 40);
    const double side = std::sqrt(1 - mixup_share(1, 3, 1, b));
    const int64_t height = 2 * static_cast<int64_t>(15 * side), width = 2 * static_cast<int64_t>(20 * side);
    ASSERT_TRUE(box.height <= height && box.width <= width);
    EXPECT_DOUBLE_EQ(box.share(image), 1 - static_cast<double>(box.height * box.width) / 1200);
    whole += box.height == height && box.width == width ? 1 : 0;
    tops.insert(box.top);
    lefts.insert(box.left);
  }
  EXPECT_GT(whole, kBatches / 10);
  EXPECT_LT(whole, kBatches / 2);
  EXPECT_GT(tops.size(), 25U);
  EXPECT_GT(lefts.size(), 35U);
}

TEST(StopRules, NeedAValidationForItsCurvesOnly) {
  StopRule rule;
  EXPECT_FALSE(rule.needs_validation());
  rule.kind = StopRule::Kind::ratio;
  EXPECT_FALSE(rule.needs_validation()) << "the training loss";
  rule.kind = StopRule::Kind::plateau;
  EXPECT_TRUE(rule.needs_validation());
  rule.monitor = "train_accuracy";
  EXPECT_FALSE(rule.needs_validation());
  EXPECT_TRUE(Given().read().refit_validated);
  EXPECT_FALSE(Given().set("refit_epochs", "all").read().refit_validated);
}

TEST(Refits, HaveTheMedianOfTheEpochsOfTheFolds) {
  EXPECT_EQ(chosen_epochs(""), 0);
  EXPECT_EQ(chosen_epochs("the training diverged: its loss is not finite in epoch 3; lower lr or scale the data"), 0);
  EXPECT_EQ(chosen_epochs("epochs=12"), 12);
  EXPECT_EQ(chosen_epochs("epochs=10\nepochs=12 best=4\nepochs=7"), 7);
  EXPECT_EQ(chosen_epochs("epochs=3\nepochs=6\nunsure=2"), 5);
  EXPECT_EQ(chosen_epochs("epochs=0"), 0);
}

TEST(Options, AreRefusedIfTheyHaveNoEffect) {
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

TEST(RowWeights, MultiplyWeightsOfClassesAndRows) {
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

}  // namespace
}  // namespace mokume::cnn_test
