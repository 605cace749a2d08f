// Tests sums by owner slices, and parcels, over a fabric in memory, which delivers in a random order.
#include "team/slices.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "sdk/error.hpp"
#include "team/parcels.hpp"

namespace mokume::team {
namespace {

// Delivers messages one by one, in an order drawn from a seed, except that those of two processes with one tag keep
// theirs.
class Room {
 public:
  explicit Room(uint32_t seed) : random_(seed) {}

  struct Given {
    std::span<const float> floats;
    std::function<void()> done;
  };
  struct Taken {
    std::span<float> floats;
    std::function<void(uint64_t)> done;
  };
  struct Way {
    std::deque<Given> given;
    std::deque<Taken> taken;
  };
  using Key = std::array<uint32_t, 3>;  // from, to, tag

  Way& way(uint32_t from, uint32_t to, uint32_t tag) { return ways_[{from, to, tag}]; }

  bool deliver_one() {
    std::vector<Way*> ready;
    for (auto& [key, way] : ways_)
      if (!way.given.empty() && !way.taken.empty()) ready.push_back(&way);
    if (ready.empty()) return false;
    Way& way = *ready[random_() % ready.size()];
    const Given given = std::move(way.given.front());
    const Taken taken = std::move(way.taken.front());
    way.given.pop_front();
    way.taken.pop_front();
    EXPECT_LE(given.floats.size(), taken.floats.size());
    std::copy(given.floats.begin(), given.floats.end(), taken.floats.begin());
    floats_ += given.floats.size();
    given.done();
    taken.done(given.floats.size());
    return true;
  }

  uint64_t floats() const { return floats_; }
  bool quiet() const {
    return std::all_of(ways_.begin(), ways_.end(),
                       [](const auto& way) { return way.second.given.empty() && way.second.taken.empty(); });
  }

 private:
  std::mt19937 random_;
  std::map<Key, Way> ways_;
  uint64_t floats_ = 0;
};

class InRoom : public Fabric {
 public:
  InRoom(Room& room, uint32_t node) : room_(room), node_(node) {}
  void give(uint32_t to, uint32_t tag, std::span<const float> floats, std::function<void()> done) override {
    room_.way(node_, to, tag).given.push_back({floats, std::move(done)});
  }
  void take(uint32_t from, uint32_t tag, std::span<float> floats, std::function<void(uint64_t)> done) override {
    room_.way(from, node_, tag).taken.push_back({floats, std::move(done)});
  }

 private:
  Room& room_;
  uint32_t node_;
};

constexpr uint64_t kShards = 16;

float leaf(uint64_t sum, uint64_t shard, uint64_t place) {
  return std::sin(static_cast<float>(1 + sum * 977 + shard * 131 + place)) * std::exp2(static_cast<float>(shard % 7));
}

cluster::Block block_of(uint64_t sum, uint32_t first, uint32_t size, uint64_t count) {
  std::vector<cluster::Block> leaves;
  for (uint32_t s = first; s < first + size; ++s) {
    base::Floats values(count);
    for (uint64_t i = 0; i < count; ++i) values.span()[i] = leaf(sum, s, i);
    leaves.push_back({s, 1, values});
  }
  return {first, size, add_up(std::move(leaves), count)};
}

// Returns the fewest subtrees of the shards [first, end).
std::vector<cluster::Block> subtrees(uint64_t sum, uint32_t first, uint32_t end, uint64_t count) {
  std::vector<cluster::Block> blocks;
  while (first < end) {
    uint32_t size = 1;
    while (first % (2 * size) == 0 && first + 2 * size <= end) size *= 2;
    blocks.push_back(block_of(sum, first, size, count));
    first += size;
  }
  return blocks;
}

std::vector<float> copy_of(const base::Floats& floats) { return {floats.span().begin(), floats.span().end()}; }

SliceSums::Results results_in(std::map<uint64_t, std::vector<float>>& made) {
  return {
      [&made](uint64_t number, const base::Floats& sum) { EXPECT_TRUE(made.try_emplace(number, copy_of(sum)).second); },
      [](const std::string& why) { ADD_FAILURE() << why; }};
}

// Process k has the shards [bounds[k], bounds[k + 1]), in members of up to `each` shards.
void expect_equal_bits(const std::vector<uint32_t>& bounds, uint32_t each, uint64_t count, uint32_t seed) {
  Room room(seed);
  const auto processes = static_cast<uint32_t>(bounds.size() - 1);
  std::vector<uint32_t> nodes;
  for (uint32_t k = 0; k < processes; ++k) nodes.push_back(10 * k);
  std::vector<std::unique_ptr<InRoom>> fabrics;
  std::vector<std::map<uint64_t, std::vector<float>>> made(processes);
  std::vector<std::unique_ptr<SliceSums>> sums;
  for (uint32_t k = 0; k < processes; ++k) {
    fabrics.push_back(std::make_unique<InRoom>(room, nodes[k]));
    sums.push_back(std::make_unique<SliceSums>(*fabrics[k], nodes, nodes[k], 3, results_in(made[k])));
  }
  constexpr uint64_t kSums = 6;
  std::mt19937 random(seed);
  const uint64_t swapped = seed % 2;
  std::vector<uint64_t> next(processes, 0);
  while (true) {
    std::vector<uint32_t> behind;
    for (uint32_t k = 0; k < processes; ++k)
      if (next[k] < kSums) behind.push_back(k);
    if (behind.empty()) break;
    const uint32_t k = behind[random() % behind.size()];
    const uint64_t number = next[k]++ ^ swapped;  // two threads of a process may contribute to neighbouring sums
    std::vector<cluster::Block> blocks;
    for (uint32_t first = bounds[k]; first < bounds[k + 1]; first += each)
      for (cluster::Block& b : subtrees(number, first, std::min(first + each, bounds[k + 1]), count))
        blocks.push_back(std::move(b));
    sums[k]->add(number, count, std::move(blocks));
    for (uint32_t turn = random() % 4; turn > 0; --turn) room.deliver_one();
  }
  while (room.deliver_one()) {
  }
  EXPECT_TRUE(room.quiet());
  for (uint64_t number = 0; number < kSums; ++number) {
    const std::vector<float> expected = copy_of(block_of(number, 0, kShards, count).values);
    for (uint32_t k = 0; k < processes; ++k) {
      ASSERT_EQ(made[k][number].size(), count);
      EXPECT_EQ(std::memcmp(made[k][number].data(), expected.data(), count * sizeof(float)), 0) << k << ", " << number;
    }
  }
}

TEST(Slices, GiveTheBitsOfTheTreeHoweverProcessesShareIt) {
  uint32_t seed = 0;
  for (const uint64_t count : {0, 1, 17, 4095, 8191, 8193, 20000, 40000}) {
    expect_equal_bits({0, 8, 16}, 16, count, ++seed);
    expect_equal_bits({0, 5, 16}, 2, count, ++seed);
    expect_equal_bits({0, 1, 4, 9, 16}, 1, count, ++seed);
    expect_equal_bits({0, 0, 16}, 3, count, ++seed);  // a process without shards
    expect_equal_bits({0, 2, 4, 6, 8, 10, 12, 14, 16}, 1, count, ++seed);
  }
}

// Returns the number of floats that four processes send for `numbers` sums of `count` floats.
uint64_t floats_sent(uint64_t numbers, uint64_t count) {
  Room room(1);
  std::vector<std::unique_ptr<InRoom>> fabrics;
  std::vector<std::map<uint64_t, std::vector<float>>> made(4);
  std::vector<std::unique_ptr<SliceSums>> sums;
  for (uint32_t k = 0; k < 4; ++k) {
    fabrics.push_back(std::make_unique<InRoom>(room, k));
    sums.push_back(
        std::make_unique<SliceSums>(*fabrics[k], std::vector<uint32_t>{0, 1, 2, 3}, k, 0, results_in(made[k])));
  }
  for (uint64_t number = 0; number < numbers; ++number)
    for (uint32_t k = 0; k < 4; ++k) sums[k]->add(number, count, {block_of(number, 4 * k, 4, count)});
  while (room.deliver_one()) {
  }
  return room.floats();
}

// A head of three words announces each part.
TEST(Slices, SendTheSameNumberOfFloatsFromEveryProcess) {
  constexpr uint64_t kQuarter = 4096;
  EXPECT_EQ(floats_sent(1, 4 * kQuarter), 4 * (3 * (3 + kQuarter) + 3 * kQuarter));
}

TEST(Slices, ShortSumsHaveOneOwner) { EXPECT_EQ(floats_sent(4, 2000), 4 * (3 * (3 + 2000) + 3 * 2000)); }

TEST(Slices, MergedBlocksAreTheFewestSubtrees) {
  std::vector<cluster::Block> leaves;
  for (uint32_t s = 3; s < 13; ++s) leaves.push_back(block_of(0, s, 1, 4));
  const std::vector<cluster::Block> fewest = subtrees(0, 3, 13, 4), found = merged(std::move(leaves));
  ASSERT_EQ(found.size(), fewest.size());
  for (size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].first, fewest[k].first);
    EXPECT_EQ(found[k].size, fewest[k].size);
    EXPECT_EQ(copy_of(found[k].values), copy_of(fewest[k].values));
  }
}

TEST(Slices, RefuseDamagedMessages) {
  Room room(1);
  InRoom fabric(room, 0), other(room, 1);
  std::string why;
  SliceSums sums(fabric, {0, 1}, 0, 0,
                 {[](uint64_t, const auto&) { FAIL(); }, [&](const std::string& text) { why = text; }});
  sums.add(0, 64, {block_of(0, 0, 8, 64)});
  const std::vector<float> damaged(7, 0.0F);
  other.give(0, 0, damaged, [] {});
  room.deliver_one();
  EXPECT_EQ(why, "a message with a part of a team's sum is damaged");
}

TEST(Slices, ReportNothingAfterTheirEnd) {
  Room room(1);
  InRoom one(room, 0), two(room, 1);
  std::map<uint64_t, std::vector<float>> by_first, by_second;
  auto first = std::make_unique<SliceSums>(one, std::vector<uint32_t>{0, 1}, 0, 0, results_in(by_first));
  SliceSums second(two, {0, 1}, 1, 0, results_in(by_second));
  first->add(0, 64, {block_of(0, 0, 8, 64)});
  second.add(0, 64, {block_of(0, 8, 8, 64)});
  first.reset();
  while (room.deliver_one()) {
  }
  EXPECT_TRUE(by_first.empty());
}

// ---- parcels

// Every process sends to every other one, and expects parcels before and after their arrival.
TEST(Parcels, ReachTheirReceiversInOrder) {
  const std::vector<uint32_t> nodes = {0, 0, 1, 2};  // by member
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Room room(seed);
    std::map<std::pair<uint32_t, uint32_t>, std::vector<float>> came;
    std::vector<std::unique_ptr<InRoom>> fabrics;
    std::vector<std::unique_ptr<FabricParcels>> parcels;
    for (uint32_t node = 0; node < 3; ++node) {
      fabrics.push_back(std::make_unique<InRoom>(room, node));
      parcels.push_back(std::make_unique<FabricParcels>(
          *fabrics.back(), nodes, node, 5,
          FabricParcels::Results{[&](const cluster::TeamParcel& p) {
                                   came[{p.from, p.to}].push_back(p.values.span().back());
                                 },
                                 [](const std::string& why) { ADD_FAILURE() << why; }}));
    }
    std::mt19937 random(seed);
    const auto for_all = [&](auto&& body) {
      for (uint32_t from = 0; from < 4; ++from)
        for (uint32_t to = 0; to < 4; ++to)
          if (nodes[from] != nodes[to]) body(from, to);
    };
    for (int k = 0; k < 3; ++k) {
      for_all([&](uint32_t from, uint32_t to) {
        base::Floats values(static_cast<uint64_t>(1 + k * 7));
        values.span().back() = static_cast<float>(k);
        if (random() % 2 == 0) parcels[nodes[to]]->expect(from, to);
        parcels[nodes[from]]->send({0, from, to, values});
        while (random() % 3 != 0 && room.deliver_one()) {
        }
      });
    }
    while (room.deliver_one()) {
    }
    for (int k = 0; k < 3; ++k)
      for_all([&](uint32_t from, uint32_t to) {
        parcels[nodes[to]]->expect(from, to);
        while (room.deliver_one()) {
        }
      });
    for_all([&](uint32_t from, uint32_t to) {
      EXPECT_EQ((came[{from, to}]), (std::vector<float>{0, 1, 2})) << from << " to " << to << ", seed " << seed;
    });
  }
}

TEST(Parcels, ReportADamagedHead) {
  Room room(1);
  InRoom near(room, 0), far(room, 1);
  std::string failure;
  FabricParcels parcels(near, {0, 1}, 0, 0,
                        {[](const cluster::TeamParcel&) { FAIL(); }, [&](const std::string& why) { failure = why; }});
  parcels.expect(1, 0);
  const std::vector<float> head = {0, 0, 0};
  far.give(0, SliceSums::kTags, head, [] {});
  EXPECT_TRUE(room.deliver_one());
  EXPECT_NE(failure.find("damaged"), std::string::npos) << failure;
}

}  // namespace
}  // namespace mokume::team
