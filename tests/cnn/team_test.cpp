// Tests that one network on several devices has the bits of one device, whichever member computes a shard. Also tests
// averages of weights.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "pictures.hpp"
#include "team/sums.hpp"
#include "train/team_training.hpp"

namespace mokume::cnn_test {
namespace {

Settings synchronous_settings() {
  Settings s = small_settings();
  s.epochs = 3;
  s.batch_size = 26;  // 241 rows, so shards differ in size, and the last batch is smaller
  s.parallel.kind = Parallel::Kind::synchronous;
  return s;
}

class InTeam : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!world(0).present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  }

  // Returns a device for each member. All devices are of one class.
  World& world(uint32_t member) {
    while (worlds_.size() <= member) worlds_.push_back(std::make_unique<World>(GetParam()));
    return *worlds_[member];
  }

  // Returns each member's outcome, or nothing if it was cancelled. `patience` applies to the leader's sink.
  std::vector<std::optional<Outcome>> train(uint32_t members, const Settings& given, const std::string& scratch = "",
                                            int patience = kNever, std::vector<double> speeds = {},
                                            const std::string& splits = "") {
    speeds.resize(members, 1);
    std::vector<uint32_t> all;
    for (uint32_t m = 0; m < members; ++m) {
      all.push_back(m);
      world(m);
    }
    team::TeamSums team({.speeds = speeds,
                         .local = all,
                         .gathered = all,
                         .account = [&](double, auto, auto, const std::string& shares,
                                        const std::string& at) { account_ += at + ": " + shares + "\n"; },
                         .splits = splits,
                         .split = split_});
    std::vector<std::optional<Outcome>> outcomes(members);
    std::vector<std::thread> threads;
    for (uint32_t m = 0; m < members; ++m)
      threads.emplace_back([&, m] {
        try {
          outcomes[m] = train_one(*worlds_[m], sdk::Team(members == 1 ? nullptr : team.table(m)), given,
                                  m == 0 ? scratch : "", m == 0 ? patience : kNever);
        } catch (const Error& e) {
          EXPECT_EQ(e.status(), MK_CANCELLED) << e.what();
          team.break_up(e.what());
        }
      });
    for (std::thread& t : threads) t.join();
    return outcomes;
  }

  Outcome train_one(World& world, const sdk::Team& team, const Settings& given, const std::string& scratch,
                    int patience) const {
    const sdk::Device device = world.device();
    const Settings settings = settings_for(given, team, begun_with(world.host(), given, team, task_of(scratch)));
    const Network network = make_network(settings, {6, 6, 1, false}, 4);
    const ResidentData data(device, pictures_.data);
    Sink sink{patience};
    const mk_fit_sink table = sink.table();
    const uint64_t inputs = ResidentData::input_bytes(pictures_.data);
    const Memory memory{inputs, ResidentData::bytes(pictures_.data) - inputs, kRows};
    for (Cut cut;;) {
      const Placement placement = place(team, device, network, settings, memory, cut);
      TrainingTask task = task_of(scratch);
      task.part = placement.parts[team.member()];
      Training training(world.host(), device, data, network, settings, task);
      if (const auto next = TeamTraining(team, training, placement, cut, table).run(); next) {
        cut = *next;
        continue;
      }
      Outcome outcome = outcome_of(training);
      if (placement.in_layers()) outcome.result = training.take_parameters();
      return outcome;
    }
  }

  // Returns the outcome of a team that is split by layers: each member has the parameters of its own layers, and only
  // the leader has the result.
  static std::optional<Outcome> joined(const std::vector<std::optional<Outcome>>& outcomes) {
    std::optional<Outcome> all = outcomes[0];
    for (size_t m = 1; all && m < outcomes.size(); ++m) {
      if (!outcomes[m]) return {};
      for (size_t k = 0; k < all->parameters.size(); ++k)
        if (outcomes[m]->parameters[k] != 0) all->parameters[k] = outcomes[m]->parameters[k];
      EXPECT_TRUE(outcomes[m]->result.empty());
      EXPECT_EQ(outcomes[m]->train_loss.back(), all->train_loss.back());
      EXPECT_EQ(outcomes[m]->validation_loss.back(), all->validation_loss.back());
    }
    return all;
  }

  Pictures pictures_;
  mk_team_split split_ = MK_SPLIT_AUTO;
  std::string account_;  // accounts of all teams, one after another
  std::vector<std::unique_ptr<World>> worlds_;
};

TEST_P(InTeam, GivesTheBitsOfOneDevice) {
  Settings graph = synchronous_settings();
  graph.layers = graph_settings().layers;
  for (const Settings& settings : {synchronous_settings(), graph}) {
    const auto alone = train(1, settings);
    ASSERT_TRUE(alone[0]);
    EXPECT_GT(alone[0]->train_accuracy.back(), 0.6);
    for (const uint32_t members : {2, 3}) {
      const auto outcomes = train(members, settings);
      for (const auto& one : outcomes) EXPECT_EQ(one, alone[0]) << members << " members";
    }
    const auto uneven = train(2, settings, "", kNever, {5, 1});
    EXPECT_EQ(uneven[1], alone[0]);
  }
}

TEST_P(InTeam, AccumulatesGradientsAsOneDeviceDoes) {
  Settings s = synchronous_settings();
  s.layers = graph_settings().layers;
  s.accumulate = 3;  // the last step has only the tenth batch
  s.optimizer = {ops::Optimizer::adamw, 0.01, 0.01, 0.9, 0.999, 1e-8, false, 0.3};
  s.muon = {0.02, 0.1, 0.9, true, 5, "original"};
  const auto alone = train(1, s), three = train(3, s);
  for (const auto& one : three) EXPECT_EQ(one, alone[0]);
  EXPECT_NE(alone[0]->parameters, train(1,
                                        [&] {
                                          s.accumulate = 1;
                                          return s;
                                        }())[0]
                                      ->parameters);
}

// The random change of a row depends on its position in the whole batch, whichever shard contains it.
TEST_P(InTeam, ChangesImagesAsOneDeviceDoes) {
  Settings s = synchronous_settings();
  s.augment.shift = 1;
  s.augment.horizontal = 0.5;
  s.augment.degrees = 20;
  s.mixup_alpha = 0.5;
  const auto alone = train(1, s), three = train(3, s), plain = train(1, synchronous_settings());
  for (const auto& one : three) EXPECT_EQ(one, alone[0]);
  EXPECT_NE(alone[0]->train_loss, plain[0]->train_loss);
}

TEST_P(InTeam, CutsImagesAsOneDeviceDoes) {
  Settings s = synchronous_settings();
  s.cutmix_alpha = 1;
  const auto alone = train(1, s), three = train(3, s), plain = train(1, synchronous_settings());
  for (const auto& one : three) EXPECT_EQ(one, alone[0]);
  EXPECT_NE(alone[0]->train_loss, plain[0]->train_loss);
}

TEST_P(InTeam, MayHaveMoreMembersThanShards) {
  Settings s = synchronous_settings();
  s.parallel.shards = 2;
  const auto alone = train(1, s), three = train(3, s);
  EXPECT_EQ(three[2], alone[0]);
}

// Without shards, the same batch sums its gradients in another order.
TEST_P(InTeam, ReachesTheLossOfOneLargeBatch) {
  Settings s = synchronous_settings();
  s.epochs = 1;
  const auto in_team = train(2, s);
  s.parallel.kind = Parallel::Kind::none;
  const sdk::Device device = world(0).device();
  const Network network = make_network(s, {6, 6, 1, false}, 4);
  const ResidentData data(device, pictures_.data);
  Training plain(world(0).host(), device, data, network, s, task_of());
  Sink sink{kNever};
  cnn::train(plain, sink.table());
  EXPECT_NEAR(in_team[0]->train_loss[0], plain.record().history.train_loss[0],
              1e-6 * plain.record().history.train_loss[0]);
  EXPECT_NEAR(in_team[0]->validation_loss[0], plain.record().history.validation_loss[0], 1e-5);
}

TEST_P(InTeam, ScalesTheBatchAndTheRateByTheNumberOfDevices) {
  Settings s = synchronous_settings();
  s.parallel.batch_scope = "per_device";
  s.batch_size = 13;
  const auto each = train(2, s);
  s.parallel.batch_scope = "global";
  s.batch_size = 26;
  EXPECT_EQ(each[0], train(1, s)[0]);
  s.parallel.batch_scope = "per_device";
  s.parallel.scale_lr = true;
  s.batch_size = 13;
  const auto scaled = train(2, s);
  s.parallel.batch_scope = "global";
  s.parallel.scale_lr = false;
  s.batch_size = 26;
  s.optimizer.lr *= 2;
  EXPECT_EQ(scaled[0], train(1, s)[0]);
}

TEST_P(InTeam, ResumesFromACheckpointWithOtherMembers) {
  const auto whole = train(1, synchronous_settings());
  const Scratch scratch;
  // Training checks for a stop after every 8 of the 10 batches of an epoch, so it stops within the second epoch.
  const auto stopped = train(2, synchronous_settings(), scratch.str(), 1);
  EXPECT_FALSE(stopped[0] || stopped[1]) << "it was cancelled";
  const auto resumed = train(3, synchronous_settings(), scratch.str());
  ASSERT_TRUE(resumed[0]);
  EXPECT_EQ(resumed[0], whole[0]);
  ASSERT_TRUE(resumed[2]);
  EXPECT_EQ(resumed[2]->parameters, whole[0]->parameters);
}

// Results that depend on the history of the losses or on all gradients also have the bits of one device, although only
// the leader may have this history.
TEST_P(InTeam, SchedulesClippingAveragesAndTheBestWeightsAreThoseOfOneDevice) {
  Settings s = synchronous_settings();
  s.epochs = 4;
  s.optimizer = {ops::Optimizer::sgd, 0.3, 0, 0.9, 0, 0, true, 0.4};
  s.schedule.kind = Schedule::Kind::reduce_on_plateau;
  s.schedule.patience = 0;
  s.schedule.threshold = 0.3;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.restore_best = true;
  s.ema_decay = 0.7;
  const auto whole = train(1, s);
  ASSERT_TRUE(whole[0]);
  for (const auto& one : train(3, s)) EXPECT_EQ(one, whole[0]);
  const Scratch scratch;
  EXPECT_FALSE(train(2, s, scratch.str(), 2)[0]);
  const auto resumed = train(3, s, scratch.str());
  ASSERT_TRUE(resumed[0] && resumed[2]);
  EXPECT_EQ(resumed[0], whole[0]);
  EXPECT_EQ(resumed[2]->result, whole[0]->result);
}

// Training checks for a stop after every 8 batches. An epoch has 10, so the fifth check falls between two epochs.
TEST_P(InTeam, ResumesFromTheEndOfAnEpoch) {
  Settings s = synchronous_settings();
  s.epochs = 6;
  const auto whole = train(1, s);
  const Scratch scratch;
  EXPECT_FALSE(train(2, s, scratch.str(), 4)[0]);
  ASSERT_TRUE(std::filesystem::exists(scratch.str() + "/checkpoint.safetensors"));
  EXPECT_EQ(train(2, s, scratch.str())[0], whole[0]);
}

// Returns settings that together use everything that a split of the network touches.
std::vector<Settings> settings_to_split() {
  std::vector<Settings> all = {synchronous_settings(), synchronous_settings(), synchronous_settings(),
                               synchronous_settings()};
  all[1].layers = graph_settings().layers;
  all[1].accumulate = 3;
  all[1].ema_decay = 0.7;
  all[1].optimizer = {ops::Optimizer::sgd, 0.1, 0, 0.9, 0, 0, true};
  all[2].layers = graph_settings().layers;
  all[2].augment.shift = 1;
  all[2].mixup_alpha = 0.5;
  all[2].stop.kind = StopRule::Kind::plateau;
  all[2].stop.restore_best = true;
  all[2].schedule.kind = Schedule::Kind::reduce_on_plateau;
  all[2].schedule.patience = 0;
  all[2].schedule.threshold = 0.3;
  all[3].layers = graph_settings().layers;
  all[3].freeze = "stem,1";
  all[3].parallel.shards = 2;
  return all;
}

TEST_P(InTeam, SplitsLayersWithTheBitsOfOneDevice) {
  std::vector<Settings> all = settings_to_split();
  all.push_back(all[1]);
  all.back().optimizer = {ops::Optimizer::adamw, 0.01, 0.01, 0.9, 0.999, 1e-8};
  all.back().muon = {0.02, 0.1, 0.9, true, 5, "original"};
  all.back().optimizer.clip = 0.3;
  all.push_back(synchronous_settings());  // parts of the norm that two and three devices share, and whole ones
  all.back().layers = layers({conv2d(20, 3, 1, 1, true), relu(), conv2d(8, 3, 1, 1, false), conv2d(30, 3, 1, 1, true),
                              relu(), max_pool2d(2, 2, 0), flatten(), linear(12, true), linear(4, true)});
  all.back().optimizer = {ops::Optimizer::sgd, 0.1, 0, 0.9, 0, 0, true, 0.05};
  for (size_t k = 0; k < all.size(); ++k) {
    split_ = MK_SPLIT_AUTO;
    const auto alone = train(1, all[k]);
    ASSERT_TRUE(alone[0]);
    split_ = MK_SPLIT_LAYERS;
    for (const uint32_t members : {2, 3}) EXPECT_EQ(joined(train(members, all[k])), alone[0]) << k << " " << members;
    EXPECT_EQ(joined(train(3, all[k], "", kNever, {1, 9, 3})), alone[0]) << k;
  }
}

TEST_P(InTeam, SplitsStatesWithTheBitsOfOneDevice) {
  for (const Settings& settings : settings_to_split()) {
    split_ = MK_SPLIT_AUTO;
    const auto alone = train(1, settings);
    split_ = MK_SPLIT_STATES;
    for (const uint32_t members : {2, 3})
      for (const auto& one : train(members, settings)) EXPECT_EQ(one, alone[0]) << members << " members";
  }
}

TEST_P(InTeam, ResumesWithAnotherSplit) {
  Settings s = synchronous_settings();
  s.layers = graph_settings().layers;
  const auto whole = train(1, s);
  for (const mk_team_split first : {MK_SPLIT_BATCH, MK_SPLIT_STATES, MK_SPLIT_LAYERS})
    for (const mk_team_split second : {MK_SPLIT_BATCH, MK_SPLIT_STATES, MK_SPLIT_LAYERS}) {
      const Scratch scratch;
      split_ = first;
      EXPECT_FALSE(train(2, s, scratch.str(), 1)[0]);
      split_ = second;
      const auto resumed = train(3, s, scratch.str());
      ASSERT_TRUE(resumed[0]);
      EXPECT_EQ(second == MK_SPLIT_LAYERS ? joined(resumed) : resumed[0], whole[0]) << first << " " << second;
    }
}

// Members whose speeds turn out otherwise may cut the layers anew, which depends on the time. A repeated run always has
// the recorded cuts.
TEST_P(InTeam, KeepsTheBitsWhenLayersAreCutAnew) {
  Settings s = synchronous_settings();
  s.epochs = 12;
  s.layers = layers(
      {flatten(), linear(400, true), relu(), linear(400, true), relu(), linear(400, true), relu(), linear(4, true)});
  const auto alone = train(1, s);
  const Scratch scratch;
  split_ = MK_SPLIT_LAYERS;
  account_.clear();
  const auto two = train(2, s, scratch.str(), kNever, {1, 3});
  EXPECT_EQ(joined(two), alone[0]);
  const std::string cuts = std::exchange(account_, "");
  EXPECT_TRUE(cuts.starts_with("epoch 1, batch 1: layers ")) << cuts;
  const Scratch other;
  EXPECT_EQ(
      joined(train(2, s, other.str(), kNever, {}, "epoch 1, batch 1: layers 1+3\nepoch 2, batch 4: layers 3+1\n")),
      alone[0]);
  EXPECT_NE(account_.find("epoch 1, batch 1: layers 1+3"), std::string::npos) << account_;
  EXPECT_NE(account_.find("epoch 2, batch 4: layers 3+1"), std::string::npos) << account_;
}

Settings local_settings() {
  Settings s = small_settings();
  s.parallel.kind = Parallel::Kind::local_sgd;
  s.parallel.period = 4;
  s.parallel.adapt = false;
  s.optimizer = {ops::Optimizer::sgd, 0.1, 0, 0.5, 0, 0};
  return s;
}

// The mean of the results of two steps with one batch each equals the result of one step with both batches.
TEST_P(InTeam, AveragingAfterEveryBatchEqualsOneLargeBatch) {
  Settings s = local_settings();
  set_layer(s, 3, dropout(0));
  s.epochs = 2;
  s.batch_size = 12;
  s.drop_last = true;
  s.parallel.period = 1;
  const auto local = train(2, s);
  s.parallel = {};
  s.parallel.kind = Parallel::Kind::synchronous;
  s.batch_size = 24;
  const auto synchronous = train(2, s);
  ASSERT_TRUE(local[0] && synchronous[0]);
  EXPECT_EQ(local[0]->parameters, local[1]->parameters);
  for (size_t e = 0; e < 2; ++e)
    EXPECT_NEAR(local[0]->validation_loss[e], synchronous[0]->validation_loss[e], 1e-5) << "epoch " << e;
}

// Sums and averages, whose rounding would change bits, do not reach frozen layers.
TEST_P(InTeam, KeepsTheBitsOfFrozenLayers) {
  Settings synchronous = synchronous_settings(), local = local_settings();
  synchronous.ema_decay = 0.7;
  for (Settings s : {synchronous, local}) {
    s.layers = graph_settings().layers;
    s.freeze = "stem,1,3,9,13";
    s.epochs = 2;
    const Network network = make_network(s, {6, 6, 1, false}, 4);
    const std::vector<float> before = all_initial_values(network, 11, 0);
    const auto outcomes = train(3, s);
    ASSERT_TRUE(outcomes[0]);
    for (const Parameter& p : network.parameters) {
      const auto part = [&](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + p.offset, all.begin() + p.offset + p.size());
      };
      EXPECT_EQ(part(outcomes[0]->parameters) == part(before), p.frozen) << p.name;
      EXPECT_EQ(part(outcomes[0]->result) == part(before), p.frozen) << p.name;
    }
    const bool same = s.parallel.kind != Parallel::Kind::synchronous || outcomes[0] == train(1, s)[0];
    EXPECT_TRUE(same) << "not the bits of one device";
  }
}

TEST_P(InTeam, LocalStepsLearn) {
  Settings s = local_settings();
  s.epochs = 12;
  s.parallel.warmup_epochs = 1;
  s.parallel.growth = 2;
  const auto once = train(3, s), again = train(3, s);
  ASSERT_TRUE(once[0]);
  EXPECT_EQ(once, again) << "equal speeds: the same shares";
  EXPECT_EQ(once[0], once[2]);
  EXPECT_GT(once[0]->train_accuracy.back(), 0.8);
}

TEST_P(InTeam, LocalStepsKeepTheBestAverage) {
  Settings s = local_settings();
  s.epochs = 4;
  s.stop.kind = StopRule::Kind::plateau;
  s.stop.patience = 100;
  s.stop.restore_best = true;
  s.ema_decay = 0.5;
  const auto once = train(3, s);
  ASSERT_TRUE(once[0]);
  EXPECT_EQ(once, train(3, s));
  EXPECT_EQ(once[0]->result, once[2]->result);
  EXPECT_NE(once[0]->result, once[0]->parameters);
}

TEST_P(InTeam, RefusesANetworkWithoutAParallelOption) {
  Settings s = small_settings();
  mk_team table{};
  table.struct_size = sizeof(mk_team);
  table.n_members = 2;
  try {
    settings_for(s, sdk::Team(&table));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("model_options.parallel"), std::string::npos) << e.what();
  }
}

TEST_P(InTeam, KeepsTheOriginalBatchWithOneBatchForEachDevice) {
  Settings s = synchronous_settings();
  s.parallel.batch_scope = "per_device";
  s.batch_size = 8;
  const Scratch scratch;
  const auto stopped = train(3, s, scratch.str(), 1);
  ASSERT_FALSE(stopped[0]) << "it ended before it was stopped";
  const auto once = train(3, s);
  ASSERT_TRUE(once[0]);
  EXPECT_EQ(train(2, s, scratch.str())[0], once[0]) << "two resume with the batch of three";
}

// Averages depend on the split. With the splits of another team, training gives the same bits.
TEST_P(InTeam, RepeatsRecordedShares) {
  Settings s = local_settings();
  s.epochs = 3;
  s.parallel.adapt = true;
  const std::string recorded = "epoch 1, batch 1: 6+2\nepoch 1, batch 9: 1+7\nepoch 3, batch 9: 8+0\n";
  const auto first = train(2, s, "", kNever, {}, recorded);
  ASSERT_TRUE(first[0]);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_NE(first[0]->parameters, train(2, s, "", kNever, {}, "epoch 1, batch 1: 4+4\n")[0]->parameters);
  account_.clear();
  EXPECT_EQ(train(2, s, "", kNever, {9, 1}, recorded), first) << "speeds decide nothing";
  EXPECT_EQ(account_.rfind("epoch 1, batch 1: 6+2\nepoch 1, batch 9: 1+7\n", 0), 0u) << account_;
  EXPECT_EQ(train(2, s, "", kNever, {}, std::string(account_)), first) << "what was told can be repeated";
}

// Training that returns to its checkpoint reports some positions twice. The last report counts.
TEST_P(InTeam, RepeatsTheSplitsOfATrainingThatWasStopped) {
  Settings s = local_settings();
  s.epochs = 3;
  const Scratch scratch;
  EXPECT_FALSE(train(2, s, scratch.str(), 1, {3, 1})[0]);
  account_ += "epoch 3, batch 1: 1+1\n";  // a report of lost work
  const auto resumed = train(2, s, scratch.str(), kNever, {1, 3});
  ASSERT_TRUE(resumed[0]);
  EXPECT_EQ(train(2, s, "", kNever, {}, std::string(account_))[0]->parameters, resumed[0]->parameters);
}

TEST(RecordedShares, RefuseInvalidText) {
  for (const char* text : {"epoch 1: 4+4", "epoch 0, batch 1: 4+4", "epoch 1, batch 1: ", "epoch 1, batch 1: 4+x",
                           "epoch 1, batch 1: 4+4+4", "epoch 1, batch 1: 4+-4", "epoch 1, batch 99999999999: 4+4"}) {
    team::TeamSums team({.speeds = {1, 1}, .local = {0, 1}, .gathered = {0, 1}, .splits = text});
    try {
      RecordedShares(sdk::Team(team.table(0)));
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_INVALID_ARGUMENT) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, InTeam, testing::Values("host", "opencl"));

TEST(Period, GrowsAfterTheWarmup) {
  Parallel p;
  p.period = 10;
  p.warmup_epochs = 2;
  const auto periods = [&] {
    std::vector<int64_t> all;
    for (int64_t e = 0; e < 6; ++e) all.push_back(p.period_of(e));
    return all;
  };
  EXPECT_EQ(periods(), (std::vector<int64_t>{1, 1, 10, 10, 10, 10}));
  p.growth = 2;
  EXPECT_EQ(periods(), (std::vector<int64_t>{1, 1, 2, 4, 8, 10}));
}

TEST(Split, FinishesAsEarlyAsPossible) {
  EXPECT_EQ(split(8, {1, 1}), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(split(8, {1, 1, 1}), (std::vector<int64_t>{3, 3, 2}));
  EXPECT_EQ(split(16, {4, 1}), (std::vector<int64_t>{13, 3}));
  EXPECT_EQ(split(2, {50, 1, 1}), (std::vector<int64_t>{2, 0, 0}));
  EXPECT_EQ(split(0, {1}), (std::vector<int64_t>{0}));
}

TEST(Split, RetriesIdleMembersLessAndLessOften) {
  Backoff chances(3);
  std::vector<int> tried;
  for (int look = 1; look <= 500; ++look)
    if (const auto who = chances.next({8, 0, 8})) {
      EXPECT_EQ(*who, 1u);
      tried.push_back(look);
      EXPECT_FALSE(chances.next({7, 1, 8})) << "it has its unit for a look";
    }
  EXPECT_EQ(tried, (std::vector<int>{64, 192, 448}));
}

TEST(Split, FollowsTheMeasuredSpeeds) {
  Speeds speeds({3, 1});
  speeds.measure({4, 4}, {1, 400});
  EXPECT_EQ(speeds.now(), (std::vector<double>{3, 1})) << "it was building its kernels";
  speeds.measure({4, 4}, {1, 4});
  EXPECT_EQ(speeds.now(), (std::vector<double>{4, 1}));
  speeds.measure({4, 4}, {2, 4});
  EXPECT_EQ(speeds.now(), (std::vector<double>{3, 1})) << "half of it is what was known";
  speeds.measure({8, 0}, {2, 0});
  EXPECT_EQ(speeds.now()[1], 1) << "it had nothing to do";
  EXPECT_EQ(Speeds({7, 0}).now(), (std::vector<double>{1, 1})) << "one is unknown";
  EXPECT_TRUE(is_better({6, 2}, {4, 4}, {3, 1}));
  EXPECT_FALSE(is_better({5, 3}, {4, 4}, {1.04, 1}));
}

}  // namespace
}  // namespace mokume::cnn_test
