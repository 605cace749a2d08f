#include "team/sums.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "cluster/protocol/codec.hpp"
#include "sdk/error.hpp"
#include "sdk/team.hpp"

namespace mokume::team {
namespace {

base::Floats floats(const std::vector<float>& values) { return base::Floats(std::span(values)); }

// The order of additions changes the sum of these numbers.
const std::vector<float> kLeaves = {1e8F, 1, -1e8F, 0.1F, 3, 1e-8F, 7e7F, -0.3F};

float tree(size_t first, size_t size) {
  return size == 1 ? kLeaves[first] : tree(first, size / 2) + tree(first + size / 2, size / 2);
}

cluster::Block block(uint32_t first, uint32_t size) { return {first, size, floats({tree(first, size)})}; }

TEST(AddUp, GivesTheSameBitsForEveryDivisionOfTheWork) {
  const std::vector<std::vector<cluster::Block>> ways = {
      {block(0, 8)},
      {block(4, 4), block(0, 4)},
      {block(0, 2), block(2, 1), block(3, 1), block(4, 2), block(6, 2)},
      {block(7, 1), block(6, 1), block(5, 1), block(4, 1), block(3, 1), block(2, 1), block(1, 1), block(0, 1)},
  };
  for (const auto& blocks : ways) EXPECT_EQ(add_up(blocks, 1).span()[0], tree(0, 8));
}

TEST(AddUp, LeavesOutMissingBlocks) {
  EXPECT_EQ(add_up({}, 2).span()[1], 0);
  EXPECT_EQ(add_up({block(2, 1), block(7, 1)}, 1).span()[0], kLeaves[2] + kLeaves[7]);
  EXPECT_EQ(std::signbit(add_up({{5, 1, floats({-0.0F})}}, 1).span()[0]), true) << "alone, it comes out bit by bit";
}

TEST(AddUp, RefusesBlocksThatOverlapOrAreNotSubtrees) {
  EXPECT_THROW(add_up({{0, 3, floats({1})}}, 1), Error);
  EXPECT_THROW(add_up({{1, 2, floats({1})}}, 1), Error);
  EXPECT_THROW(add_up({{0, 4, floats({1})}, {2, 2, floats({1})}}, 1), Error);
  EXPECT_THROW(add_up({{0, 1, floats({1, 2})}}, 1), Error);
}

TEST(Team, SumsInTheGivenOrderWhileMembersProceedIndependently) {
  TeamSums team({.speeds = {1, 1}, .local = {0, 1}, .gathered = {0, 1}});
  const auto work = [&](uint32_t member) {
    const sdk::Team mine(team.table(member));
    for (int k = 0; k < 100; k += 2) {  // two sums are in progress at a time
      const float value = static_cast<float>(k + static_cast<int>(member));
      const mk_block own{member, 1, &value};
      mine.give(1, {&own, 1});
      mine.give(1, {});
      float sum = 0;
      mine.take({&sum, 1});
      EXPECT_EQ(sum, static_cast<float>(2 * k + 1));
      mine.take({&sum, 1});
      EXPECT_EQ(sum, 0);
    }
    float word = member == 0 ? 5.0F : 6.0F;
    mine.from_leader({&word, 1});
    EXPECT_EQ(word, 5.0F);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
}

TEST(Team, SumsAcrossProcesses) {
  std::unique_ptr<TeamSums> near, far;
  far = std::make_unique<TeamSums>(
      TeamSums::Setup{.speeds = {1, 1, 1}, .local = {2}, .send = [&](const cluster::TeamContribution& contribution) {
                        cluster::Message came = cluster::decode_frame(cluster::encode(contribution));
                        near->take_contribution(std::get<cluster::TeamContribution>(came));
                      }});
  near = std::make_unique<TeamSums>(
      TeamSums::Setup{.speeds = {1, 1, 1},
                      .local = {0, 1},
                      .gathered = {0, 1, 2},
                      .publish = [&](uint64_t number, const base::Floats& sum) { far->take_sum(number, sum); }});
  std::vector<std::thread> threads;
  for (uint32_t m = 0; m < 3; ++m)
    threads.emplace_back([&, m] {
      const sdk::Team mine((m < 2 ? near : far)->table(m));
      for (int k = 0; k < 50; ++k) {
        std::vector<float> values = {1, static_cast<float>(m)};
        mine.sum(values);
        EXPECT_EQ(values, (std::vector<float>{3, 3}));
      }
    });
  for (std::thread& t : threads) t.join();
}

// Members 0 and 1 are in one process, and member 2 is in another.
TEST(Team, CarriesFloatsFromMemberToMember) {
  std::unique_ptr<TeamSums> near, far;
  const auto carry_to = [](std::unique_ptr<TeamSums>& to) {
    return [&to](const cluster::TeamParcel& parcel) {
      to->take_parcel(std::get<cluster::TeamParcel>(cluster::decode_frame(cluster::encode(parcel))));
    };
  };
  std::atomic<int> expected = 0;
  near = std::make_unique<TeamSums>(TeamSums::Setup{.speeds = {1, 1, 1},
                                                    .local = {0, 1},
                                                    .gathered = {0, 1},
                                                    .forward = carry_to(far),
                                                    .expect = [&](uint32_t from, uint32_t) {
                                                      EXPECT_EQ(from, 2U);
                                                      ++expected;
                                                    }});
  far = std::make_unique<TeamSums>(TeamSums::Setup{.speeds = {1, 1, 1}, .local = {2}, .forward = carry_to(near)});
  std::vector<std::thread> threads;
  for (uint32_t m = 0; m < 3; ++m)
    threads.emplace_back([&, m] {
      const sdk::Team mine((m < 2 ? near : far)->table(m));
      for (int k = 0; k < 50; ++k)
        for (uint32_t other = 0; other < 3; ++other) {
          if (other == m) continue;
          const std::vector<float> given(static_cast<size_t>(k + 1), static_cast<float>(100 * m + other) - 0.0F);
          mine.send(other, given);
          std::vector<float> taken(given.size());
          mine.receive(other, taken);
          EXPECT_EQ(taken.back(), static_cast<float>(100 * other + m));
        }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(expected, 100);
}

TEST(Team, RefusesFloatsThatGoAstray) {
  TeamSums team({.speeds = {1, 1}, .local = {0, 1}, .gathered = {0, 1}, .patience_s = 0.05});
  const sdk::Team mine(team.table(0)), other(team.table(1));
  float value = 1;
  EXPECT_THROW(mine.send(0, {&value, 1}), Error);
  EXPECT_THROW(mine.send(2, {&value, 1}), Error);
  EXPECT_THROW(team.take_parcel({0, 7, 1, floats({1})}), Error);
  EXPECT_THROW(team.take_parcel({0, 1, 1, floats({1})}), Error);
  EXPECT_THROW(team.take_parcel({0, 1, 2, floats({1})}), Error);
  mine.send(1, {&value, 1});
  std::array<float, 2> two{};
  EXPECT_THROW(other.receive(0, two), Error) << "another length";
  EXPECT_THROW(other.receive(0, {&value, 1}), Error) << "nothing was sent";
  EXPECT_TRUE(team.late());
  EXPECT_TRUE(team.missing().empty()) << "a sender may itself wait for another member";
}

TEST(Team, EndsForAllOnceAMemberIsGone) {
  TeamSums team({.speeds = {1, 1}, .local = {0, 1}, .gathered = {0, 1}});
  std::thread other([&] {
    const sdk::Team mine(team.table(1));
    float value = 1;
    EXPECT_THROW(mine.sum({&value, 1}), Error);
  });
  team.break_up("it has died");
  other.join();
  const sdk::Team mine(team.table(0));
  try {
    mine.give(0, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_CANCELLED);
    EXPECT_STREQ(e.what(), "it has died");
  }
}

TEST(Team, NamesMembersThatDidNotContributeInTime) {
  TeamSums team({.speeds = {1, 1, 1}, .local = {0, 1, 2}, .gathered = {0, 1, 2}, .patience_s = 0.05});
  const float value = 1;
  const mk_block own{0, 1, &value};
  float sum = 0;
  sdk::Team(team.table(0)).give(1, {&own, 1});
  sdk::Team(team.table(2)).give(1, {});
  EXPECT_THROW(sdk::Team(team.table(0)).take({&sum, 1}), Error);
  EXPECT_EQ(team.missing(), std::vector<uint32_t>{1});
}

TEST(Team, RefusesContributionsOutOfTurn) {
  TeamSums team({.speeds = {1, 1}, .local = {0, 1}, .gathered = {0, 1}});
  sdk::Team(team.table(0)).give(3, {});
  EXPECT_THROW(sdk::Team(team.table(1)).give(2, {}), Error) << "another length";
}

}  // namespace
}  // namespace mokume::team
