// Tests how a network is divided among the devices of a team.
#include "train/placement.hpp"

#include <gtest/gtest.h>

#include "pictures.hpp"
#include "train/team_training.hpp"

namespace mokume::cnn_test {
namespace {

constexpr Memory kMemory{kRows * 36 * 4, kRows * 4, kRows};

Settings wide_settings() {
  Settings s = small_settings();
  s.layers = layers({flatten(), linear(300, true), relu(), linear(300, true), relu(), linear(300, true), relu(),
                     linear(300, true), relu(), linear(4, true)});
  s.parallel.kind = Parallel::Kind::synchronous;
  s.parallel.shards = 4;
  return s;
}

Network network_of(const Settings& s) { return make_network(s, {6, 6, 1, false}, 4); }

uint64_t bytes_of(const Settings& s, const Part& part) {
  return Training::bytes(network_of(s), s, kRows, part) + kMemory.inputs + kMemory.targets;
}

TEST(Placements, CutWhereOneValuePasses) {
  const Network chain = network_of(wide_settings());
  EXPECT_EQ(cut_points(chain), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
  const Network graph = network_of(graph_settings());
  for (const size_t point : cut_points(graph))
    for (size_t k = point; k < graph.stages.size(); ++k)
      for (const size_t value : graph.stages[k]->reads) EXPECT_GE(value, point) << "stage " << k;
  EXPECT_EQ(cut_points(graph).front(), 0U);
  EXPECT_EQ(cut_points(graph).back(), graph.stages.size());
  EXPECT_GT(cut_points(graph).size(), 4U);
  EXPECT_LT(cut_points(graph).size(), graph.stages.size());
}

TEST(Placements, TakeTheFirstSplitThatFits) {
  const Settings s = wide_settings();
  const Network network = network_of(s);
  const auto split = [&](uint64_t budget) {
    return place(MK_SPLIT_AUTO, std::vector<Room>(2, {budget}), {1, 1}, network, s, kMemory);
  };
  const uint64_t whole = bytes_of(s, {});
  EXPECT_EQ(split(whole).split, MK_SPLIT_BATCH);
  const Placement states = split(whole - 1);
  EXPECT_EQ(states.split, MK_SPLIT_STATES);
  // Each device keeps half of Adam's two states: one vector of parameters less than the whole.
  const auto parameters = static_cast<uint64_t>(4 * network.n_parameters);
  for (const Part& part : states.parts) {
    EXPECT_LT(bytes_of(s, part), whole - parameters * 95 / 100);
    EXPECT_GT(bytes_of(s, part), whole - parameters * 105 / 100);
  }
  const Placement layers = split(whole * 2 / 3);
  ASSERT_EQ(layers.split, MK_SPLIT_LAYERS);
  EXPECT_EQ(layers.parts[0].first, 0U);
  EXPECT_EQ(layers.parts[0].end, layers.parts[1].first);
  EXPECT_EQ(layers.parts[1].end, network.stages.size());
  EXPECT_EQ(layers.bounds,
            (std::vector<int64_t>{0, first_parameter(network, layers.parts[0].end), network.n_parameters}));
  try {
    split(whole / 5);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_OUT_OF_MEMORY);
    EXPECT_NE(std::string(e.what()).find("add devices"), std::string::npos) << e.what();
  }
  try {
    place(MK_SPLIT_BATCH, {{whole - 1}, {whole - 1}}, {1, 1}, network, s, kMemory);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("set devices.split to"), std::string::npos) << e.what();
  }
}

TEST(Placements, FollowSpeedsAndBudgets) {
  const Settings s = wide_settings();
  const Network network = network_of(s);
  const uint64_t enough = bytes_of(s, {});
  const auto stages = [&](const std::vector<Room>& rooms, const std::vector<double>& speeds) {
    return place(MK_SPLIT_LAYERS, rooms, speeds, network, s, kMemory).stages();
  };
  const Shares fast_first = stages({{enough}, {enough}}, {3, 1}), fast_last = stages({{enough}, {enough}}, {1, 3});
  EXPECT_GT(fast_first[0], fast_first[1]);
  EXPECT_LT(fast_last[0], fast_last[1]);
  const Shares small_first = stages({{enough / 3}, {enough}}, {3, 1});
  EXPECT_LT(small_first[0], fast_first[0]) << "what does not fit goes elsewhere";
  EXPECT_EQ(stages({{1 << 10}, {enough}}, {3, 1}), (Shares{0, 5})) << "a device without room has no layers";
  EXPECT_EQ(stages({{enough}, {enough}}, {1e6, 1}), (Shares{5, 0})) << "nor has one that only costs time";
  EXPECT_EQ(Training::bytes(network, s, 0, {2, 2}), 0U) << "a device without layers needs no memory";
}

TEST(Placements, ImproveWhenSpeedsTurnOutOtherwise) {
  const Settings s = wide_settings();
  const Network network = network_of(s);
  const std::vector<Room> rooms(2, {bytes_of(s, {})});
  const Placement equal = place(MK_SPLIT_LAYERS, rooms, {1, 1}, network, s, kMemory);
  EXPECT_FALSE(has_better_cut(equal, {1, 1}, network, s));
  EXPECT_FALSE(has_better_cut(equal, {1.02, 1}, network, s));
  EXPECT_TRUE(has_better_cut(equal, {1, 4}, network, s));
}

TEST(Placements, KeepClippedGradientsInOneBuffer) {
  Settings s = wide_settings();
  s.optimizer.clip = 1;
  const Network network = network_of(s);
  const uint64_t enough = bytes_of(s, {});
  const auto half = static_cast<uint64_t>(4 * network.n_parameters / 2);
  const Placement placement =
      place(MK_SPLIT_LAYERS, {{enough, half / 2}, {enough, 2 * half}}, {1, 1}, network, s, kMemory);
  EXPECT_LE(static_cast<uint64_t>(4 * placement.bounds[1]), half / 2);
  EXPECT_THROW(place(MK_SPLIT_LAYERS, {{enough, half / 2}, {enough, half / 2}}, {1, 1}, network, s, kMemory), Error);
}

TEST(Placements, PiecesCoverAVectorOnce) {
  const Settings s = wide_settings();
  const Network network = network_of(s);
  for (const mk_team_split split : {MK_SPLIT_BATCH, MK_SPLIT_STATES, MK_SPLIT_LAYERS}) {
    const Placement placement = place(split, std::vector<Room>(3, {bytes_of(s, {})}), {1, 1, 1}, network, s, kMemory);
    for (const char* name : {"parameters", "state0"}) {
      int64_t at = 1000;
      for (const Placement::Piece& piece : placement.pieces(name, at, network.n_parameters - 2000)) {
        EXPECT_EQ(piece.first, at);
        at += piece.count;
      }
      EXPECT_EQ(at, network.n_parameters - 1000) << name;
    }
  }
}

TEST(Placements, TakeNoMoreMemoryThanPlanned) {
  Settings s = wide_settings();
  s.ema_decay = 0.5;
  s.optimizer.clip = 0.5;
  const Network network = network_of(s);
  World world("host");
  const sdk::Device device = world.device();
  const Pictures pictures;
  for (const mk_team_split split : {MK_SPLIT_STATES, MK_SPLIT_LAYERS}) {
    const Placement placement = place(split, std::vector<Room>(3, {bytes_of(s, {})}), {1, 1, 1}, network, s, kMemory);
    for (const Part& part : placement.parts) {
      const ResidentData data(device, pictures.data);
      const uint64_t before = world.allocated_bytes();
      TrainingTask task = task_of();
      task.part = part;
      const Training training(world.host(), device, data, network, s, task);
      const bool first = part.first == 0, last = part.end >= network.stages.size();
      EXPECT_LE(world.allocated_bytes() - before,
                Training::bytes(network, s, kRows, part) + (first ? kMemory.inputs : 0) + (last ? kMemory.targets : 0));
    }
  }
}

}  // namespace
}  // namespace mokume::cnn_test
