// Tests that, in a stack of networks, each network has the same bits as alone, whatever the other networks do.
#include <gtest/gtest.h>

#include "pictures.hpp"

namespace mokume::cnn_test {
namespace {

// Holds one network and its part of the rows. Members differ in everything except their shape.
struct Member {
  Network network;
  Settings settings;
  TrainingTask task;
};

Member member(uint32_t m, const std::string& scratch = "") {
  Settings settings = small_settings();
  settings.optimizer.lr = 0.01 / (1 + m);
  settings.epochs = 4 + m % 2;
  set_layer(settings, 3, dropout(0.1 + 0.05 * m));
  TrainingTask task;
  task.seed = 11;
  task.stream = m;
  // Some members have 241 rows in batches of 8; the others have 240.
  for (int32_t r = 0; r < kRows; ++r)
    ((r + static_cast<int32_t>(m)) % 5 == 0 && r > 4 ? task.validate : task.train).push_back(r);
  if (m % 2 == 1) task.train.pop_back();
  task.fingerprint = "member " + std::to_string(m);
  if (!scratch.empty()) task.scratch = scratch + "/" + std::to_string(m);
  return {make_network(settings, {6, 6, 1, false}, 4), settings, task};
}

class Stacks : public testing::TestWithParam<const char*> {
 protected:
  static constexpr uint32_t kNetworks = 3;

  void SetUp() override {
    // With "sequences", a core runs all batches of a network that are submitted at once.
    const std::string where = GetParam();
    world_ = where == "sequences" ? std::make_unique<World>("opencl", 0, device::Choices{{"sequence", "always"}})
                                  : std::make_unique<World>(where);
    if (!world_->present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
    device_.emplace(world_->device());
    data_.emplace(*device_, pictures_.data);
  }

  Outcome alone(const Member& m) {
    Sink sink{kNever};
    Training training(world_->host(), *device_, *data_, m.network, m.settings, m.task);
    train(training, sink.table());
    return outcome_of(training);
  }

  // Returns the outcomes in the order of the members or, after a cancellation, only those of the finished members.
  std::vector<std::optional<Outcome>> train_stack(std::vector<Member>& members, int patience = kNever) {
    StackMemory memory(*device_, static_cast<int64_t>(members.size()));
    std::vector<std::unique_ptr<Training>> trainings;
    std::vector<Training*> all;
    for (Member& m : members) {
      m.task.train_room = m.task.validate_room = kRows;
      trainings.push_back(
          std::make_unique<Training>(world_->host(), *device_, *data_, m.network, m.settings, m.task, &memory));
      memory.next_network();
      all.push_back(trainings.back().get());
    }
    std::vector<std::optional<Outcome>> outcomes(members.size());
    Sink sink{patience};
    try {
      train(all, sink.table(), [&](Training& t) {
        const auto at = std::find(all.begin(), all.end(), &t) - all.begin();
        outcomes[static_cast<size_t>(at)] = outcome_of(t);
      });
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_CANCELLED);
    }
    return outcomes;
  }

  std::unique_ptr<World> world_;
  std::optional<sdk::Device> device_;
  const Pictures pictures_;
  std::optional<ResidentData> data_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Stacks, testing::Values("host", "opencl", "sequences"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(Stacks, GiveTheBitsOfSeparateTrainings) {
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) members.push_back(member(m));
  const auto outcomes = train_stack(members);
  for (uint32_t m = 0; m < kNetworks; ++m) {
    ASSERT_TRUE(outcomes[m]) << m;
    EXPECT_EQ(outcomes[m]->train_loss.size(), 4U + m % 2);
    EXPECT_TRUE(*outcomes[m] == alone(member(m))) << m;
  }
}

TEST_P(Stacks, GiveTheBitsOfSeparateTrainingsWithFusedSteps) {
  const auto make = [](uint32_t m) {
    Member made = member(m);
    made.settings.layers =
        layers({conv2d(5, 3, 1, 0, true), relu(), flatten(), linear(70, true), relu(), linear(4, true)});
    made.settings.optimizer = {ops::Optimizer::sgd, 0.02 / (1 + m), 0, 0.5, 0, 0};
    made.network = make_network(made.settings, {6, 6, 1, false}, 4);
    return made;
  };
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) members.push_back(make(m));
  const auto outcomes = train_stack(members);
  for (uint32_t m = 0; m < kNetworks; ++m) EXPECT_TRUE(outcomes[m] && *outcomes[m] == alone(make(m))) << m;
}

TEST_P(Stacks, GiveTheBitsOfSeparateGraphs) {
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) {
    members.push_back(member(m));
    members.back().settings.layers = graph_settings().layers;
    members.back().network = make_network(members.back().settings, {6, 6, 1, false}, 4);
  }
  const auto stacked = train_stack(members);
  for (size_t m = 0; m < members.size(); ++m) EXPECT_EQ(stacked[m], alone(members[m])) << m;
}

// Networks whose options differ only in numbers share ops.
TEST_P(Stacks, GiveTheBitsOfSeparateTrainingsWithOptions) {
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) {
    members.push_back(member(m));
    Member& one = members.back();
    one.settings.layers = layers({conv2d(4, 3, 1, 1, true), leaky_relu(0.1 + 0.1 * m), max_pool2d(2, 2, 0),
                                  dropout(0.1), flatten(), linear(8, true), gelu("none"), linear(4, true)});
    one.network = make_network(one.settings, {6, 6, 1, false}, 4);
    one.settings.optimizer = {ops::Optimizer::adamw, 0.02 / (1 + m), 0.01, 0.9, 0.999, 1e-8, false, 0.2 + m};
    one.settings.loss_form.softmax.smoothing = 0.1 + 0.1 * m;
    one.settings.weighted = true;
    for (int32_t r = 0; r < kRows; ++r) one.task.weights.push_back(1.0F + static_cast<float>((r + m) % 3));
    one.settings.ema_decay = 0.5 + 0.1 * m;
    one.settings.stop.kind = StopRule::Kind::plateau;
    one.settings.stop.restore_best = true;
    EXPECT_TRUE(same_shape(members[0].network, members[0].settings, one.network, one.settings));
  }
  const auto stacked = train_stack(members);
  for (size_t m = 0; m < members.size(); ++m) EXPECT_EQ(stacked[m], alone(members[m])) << m;
}

// Members have 241 rows in 31 batches, or 240 in 30, so their last steps have one batch or three. Muon processes one
// weight at a time.
TEST_P(Stacks, GiveTheBitsOfSeparateTrainingsWithAccumulationAndMuon) {
  const auto make = [](uint32_t m) {
    Member made = member(m);
    made.settings.layers =
        layers({conv2d(4, 3, 1, 1, true), batch_norm(), relu(), flatten(), linear(12, true), relu(), linear(4, true)});
    made.network = make_network(made.settings, {6, 6, 1, false}, 4);
    made.settings.optimizer = {ops::Optimizer::adamw, 0.01 / (1 + m), 0.01, 0.9, 0.999, 1e-8, false, 0.5};
    made.settings.muon = {0.02 / (1 + m), 0.1, 0.9, true, 5, "original"};
    made.settings.accumulate = 3;
    return made;
  };
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) members.push_back(make(m));
  const auto outcomes = train_stack(members);
  for (uint32_t m = 0; m < kNetworks; ++m) EXPECT_EQ(outcomes[m], alone(make(m))) << m;
}

TEST_P(Stacks, AMemberThatDivergesOrStopsDoesNotAffectTheOthers) {
  const auto make = [](uint32_t m) {
    Member made = member(m);
    if (m == 0) made.settings.optimizer.lr = 1e30;
    if (m == 1) made.settings.stop = {StopRule::Kind::ratio, 1e-6, 0, 0};
    return made;
  };
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) members.push_back(make(m));
  const auto outcomes = train_stack(members);
  EXPECT_EQ(outcomes[1]->train_loss.size(), 2U);
  EXPECT_LT(outcomes[0]->train_loss.size(), 4U);
  EXPECT_TRUE(*outcomes[1] == alone(make(1)));
  EXPECT_TRUE(*outcomes[2] == alone(make(2)));
}

TEST_P(Stacks, ResumeFromTheirCheckpoints) {
  const Scratch scratch;
  const auto members = [&] {
    std::vector<Member> made;
    for (uint32_t m = 0; m < kNetworks; ++m) made.push_back(member(m, scratch.str()));
    return made;
  };
  std::vector<Member> first = members(), second = members();
  for (const auto& outcome : train_stack(first, 2)) EXPECT_FALSE(outcome);
  const auto outcomes = train_stack(second);
  for (uint32_t m = 0; m < kNetworks; ++m) EXPECT_TRUE(outcomes[m] && *outcomes[m] == alone(member(m))) << m;
}

// Every member has windows of every kind and random changes of images, with its own numbers.
TEST_P(Stacks, GiveTheBitsOfSeparateTrainingsWithEveryKindOfWindow) {
  const auto make = [](uint32_t m) {
    Member made = member(m);
    made.settings.layers = layers({with(conv2d(4, 3, 1, 2, true), {{"dilation", 2}}),
                                   relu(),
                                   with(conv2d(4, 3, 1, 1, true), {{"groups", 4}}),
                                   relu(),
                                   with(conv2d(6, 2, 2, 0, true), {{"groups", 2}}),
                                   relu(),
                                   conv_transpose2d(3, 2, 2, 0, 0, 1, true),
                                   relu(),
                                   avg_pool2d(2, 0, 0, false, true),
                                   with(conv2d(3, 3, 1, 1, true), {{"padding_mode", "replicate"}}),
                                   called("x", plain("hard_swish")),
                                   {{"type", "channel_shuffle"}, {"groups", 3}},
                                   adaptive_avg_pool2d(1),
                                   called("factor", plain("hard_sigmoid")),
                                   reading({"x", "factor"}, plain("multiply")),
                                   plain("softmax"),
                                   with(adaptive_avg_pool2d(2), {{"type", "adaptive_max_pool2d"}}),
                                   flatten(),
                                   linear(4, true)});
    made.settings.augment.shift = 1;
    made.settings.augment.horizontal = 0.5;
    made.settings.augment.contrast = 0.2;
    made.settings.mixup_alpha = 0.2 + m;
    made.settings.mirrors = true;
    made.network = make_network(made.settings, {6, 6, 1, false}, 4);
    return made;
  };
  std::vector<Member> members;
  for (uint32_t m = 0; m < kNetworks; ++m) members.push_back(make(m));
  const auto outcomes = train_stack(members);
  for (uint32_t m = 0; m < kNetworks; ++m) EXPECT_TRUE(outcomes[m] && *outcomes[m] == alone(make(m))) << m;
}

TEST(SameShape, ConsidersOnlyShapes) {
  const Member a = member(0), b = member(1);
  EXPECT_TRUE(same_shape(a.network, a.settings, b.network, b.settings));
  const auto differs = [&](const std::function<void(Settings&)>& change) {
    Settings other = small_settings();
    change(other);
    return !same_shape(a.network, a.settings, make_network(other, {6, 6, 1, false}, 4), other);
  };
  EXPECT_FALSE(differs([](Settings& s) { s.optimizer.lr = 3; }));
  EXPECT_TRUE(differs([](Settings& s) { set_layer(s, 0, conv2d(5, 3, 1, 1, true)); }));
  EXPECT_TRUE(differs([](Settings& s) { set_layer(s, 0, conv2d(4, 3, 1, 1, false)); }));
  EXPECT_TRUE(differs([](Settings& s) { s.batch_size = 9; }));
  EXPECT_TRUE(differs([](Settings& s) { s.augment.shift = 1; }));
  EXPECT_TRUE(differs([](Settings& s) { s.accumulate = 2; }));
  EXPECT_TRUE(differs([](Settings& s) { s.mixup_alpha = 0.2; }));
  EXPECT_TRUE(differs([](Settings& s) { s.cutmix_alpha = 0.2; }));
  EXPECT_TRUE(differs([](Settings& s) { s.mirrors = true; }));
  EXPECT_TRUE(differs([](Settings& s) { s.muon.ns_steps = 5; }));
  EXPECT_TRUE(differs([](Settings& s) { s.optimizer.amsgrad = true; }));
  EXPECT_TRUE(differs([](Settings& s) {
    set_layer(s, 0, with(conv2d(4, 3, 1, 1, true), {{"padding_mode", "reflect"}}));
  }));
  EXPECT_TRUE(differs([](Settings& s) {
    LayerJson with_dilation = with(conv2d(4, 3, 1, 2, true), {{"dilation", 2}});
    set_layer(s, 0, with_dilation);
  }));
  EXPECT_TRUE(differs([](Settings& s) { s.optimizer.kind = ops::Optimizer::adadelta; }));
  EXPECT_TRUE(differs([](Settings& s) { set_layer(s, 3, relu()); }));
}

}  // namespace
}  // namespace mokume::cnn_test
