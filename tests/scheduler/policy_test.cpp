#include "scheduler/policy.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace mokume::scheduler {
namespace {

Workload of(const std::vector<Bundle>& bundles) { return {bundles, {}}; }

TEST(Policy, AssignsTheLongestBundleThatFits) {
  Policy policy(of({{{0}, 1, 10, 0}, {{1}, 9, 1000, 1}, {{2}, 5, 100, 2}}), {{"a", 500, 0}, {"a", 2000, 0}});
  for (uint32_t i = 0; i < 3; ++i) policy.wait(i);
  EXPECT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{2}));
  EXPECT_FALSE(policy.next(0, 0)) << "a busy unit gets nothing";
  EXPECT_EQ(policy.next(1, 0)->bundles, (std::vector<uint32_t>{1}));
}

TEST(Policy, UnfinishedWorkWaitsAgain) {
  Policy policy(of({{{0, 1}, 4, 1, 0}, {{2}, 2, 1, 1}}), {{"a", 10, 0}, {"a", 5, 0}});
  policy.wait(0);
  policy.wait(1);
  ASSERT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{0}));
  policy.ended(0, {}, 0, 1);
  policy.needs_more_than(0, 10);
  EXPECT_EQ(policy.unplaceable(), (std::vector<uint32_t>{0}));
  ASSERT_EQ(policy.next(0, 1)->bundles, (std::vector<uint32_t>{1}));
  policy.ended(0, {1}, 1, 2);
  policy.retire(0);
  policy.wait(1);
  EXPECT_FALSE(policy.next(0, 2));
}

TEST(Policy, TestsWithTheLastSuitableBundleInTheOrder) {
  Policy policy(of({{{0}, 1, 10, 0}, {{1}, 2, 10, 1}, {{2}, 3, 100, 2}, {{3}, 4, 10, 3}}), {{"a", 50, 0}});
  for (uint32_t i = 0; i < 4; ++i) policy.wait(i);
  EXPECT_FALSE(policy.test(
      0, [](uint32_t i) { return i == 2; }, 0))
      << "it does not fit";
  EXPECT_EQ(policy
                .test(
                    0, [](uint32_t i) { return i > 0; }, 0)
                ->bundles,
            (std::vector<uint32_t>{1}));
  EXPECT_FALSE(policy.test(
      0, [](uint32_t) { return true; }, 0))
      << "it is busy";
  policy.ended(0, {1}, 1, 1);
  policy.retire(0);
  EXPECT_FALSE(policy.test(
      0, [](uint32_t) { return true; }, 1))
      << "it is retired";
}

TEST(Policy, SplitsAPiece) {
  Policy policy(of({{{3, 4, 5}, 6, 1, 0}}), {{"a", 10, 0}});
  policy.wait(0);
  const std::vector<uint32_t> parts = policy.take_apart(0, {4, 5});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(policy.next(0, 0)) << "they do not wait yet";
  policy.wait(parts[0]);
  EXPECT_EQ(policy.bundle(parts[0]).fits, (std::vector<uint32_t>{4}));
  EXPECT_EQ(policy.bundle(parts[1]).cost, 2);
  EXPECT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{parts[0]}));
}

void finish(Policy& policy, uint32_t unit, const Pick& what, double seconds, double now) {
  policy.ended(unit, what.bundles, seconds, now);
}

TEST(Policy, AssignsPiecesOfOneAffinityTogetherWhileMuchIsLeft) {
  std::vector<Bundle> bundles;
  for (uint32_t i = 0; i < 40; ++i) bundles.push_back({{i}, 1, 1, i / 4});
  Policy policy(of(bundles), {{"a", 10, 0}, {"a", 10, 0}});
  for (uint32_t i = 0; i < 40; ++i) policy.wait(i);
  EXPECT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(policy.next(1, 0)->bundles, (std::vector<uint32_t>{4, 5, 6, 7}));
  double now = 0;
  std::vector<size_t> sizes;
  std::vector<Pick> held = {{{0, 1, 2, 3}, false}, {{4, 5, 6, 7}, false}};
  for (uint32_t unit = 0;; unit = 1 - unit) {
    now += 2;
    finish(policy, unit, held[unit], static_cast<double>(held[unit].bundles.size()), now);
    const auto given = policy.next(unit, now);
    if (!given || given->backup) break;
    for (const uint32_t i : given->bundles)
      EXPECT_EQ(policy.bundle(i).affinity, policy.bundle(given->bundles.front()).affinity);
    sizes.push_back(given->bundles.size());
    held[unit] = *given;
  }
  EXPECT_EQ(sizes.front(), 4U);
  EXPECT_EQ(sizes.back(), 1U) << "the end is shared finely";
}

TEST(Policy, ASingleUnitGetsAllPiecesOfOneAffinity) {
  Policy policy(of({{{0}, 1, 1, 0}, {{1}, 9, 1, 0}, {{2}, 1, 1, 0}}), {{"a", 10, 0}, {"a", 10, 0}});
  for (uint32_t i = 0; i < 3; ++i) policy.wait(i);
  policy.retire(1);
  EXPECT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Policy, WorkFollowedByALongRefitGoesFirst) {
  Workload workload = of({{{0}, 5, 1, 0}, {{1}, 4, 1, 1}, {{2}, 9, 1, 2}, {{3}, 1, 1, 3}});
  workload.positions = {{0, 0, {0.1}}, {0, 0, {0.2}}, {1, 0, {0.3}}, {1, 0, {0.4}}};
  const auto order = [&](double share) {
    workload.refit_share = share;
    Policy policy(workload, {{"a", 10, 0}, {"a", 10, 0}, {"a", 10, 0}, {"a", 10, 0}});
    std::vector<uint32_t> given;
    for (uint32_t i = 0; i < 4; ++i) policy.wait(i);
    for (uint32_t u = 0; u < 4; ++u) given.push_back(policy.next(u, 0)->bundles.front());
    return given;
  };
  EXPECT_EQ(order(0), (std::vector<uint32_t>{2, 0, 1, 3}));
  EXPECT_EQ(order(1.25), (std::vector<uint32_t>{2, 3, 0, 1})) << "9 may have to be refitted after 3";
}

TEST(Policy, ACandidateThatCannotWinHasNoRefitAhead) {
  // The longest candidate of bootstrap 0 is fit 0; fits 3 and 5 come after work that may have to be refitted.
  Workload workload =
      of({{{0}, 9, 1, 0}, {{1}, 2, 1, 1}, {{2}, 6, 1, 2}, {{3}, 1, 1, 3}, {{4}, 2, 1, 4}, {{5}, 1, 1, 5}});
  workload.positions = {{0, 0, {0.1}}, {0, 0, {0.2}}, {1, 0, {0.3}}, {0, 1, {0.2}}, {1, 0, {0.4}}, {1, 1, {0.4}}};
  workload.refit_share = 1.25;
  const auto next = [&](double loss_of_0) {
    Policy policy(workload, {{"a", 10, 0}});
    for (const uint32_t i : {0U, 1U, 2U, 4U}) policy.finished(i);
    policy.scored(0, loss_of_0);
    policy.scored(1, 0.5);
    policy.scored(2, 0.25);
    policy.scored(4, 0.75);
    for (const uint32_t i : {3U, 5U}) policy.wait(i);
    return policy.next(0, 0)->bundles.front();
  };
  EXPECT_EQ(next(0.25), 3U) << "a refit of 9";
  EXPECT_EQ(next(0.75), 5U) << "a refit of 2 at most here, one of 6 there";
  EXPECT_EQ(next(std::numeric_limits<double>::quiet_NaN()), 5U) << "it failed";
}

TEST(Contenders, HaveFoldsThatOverlapWithTheLeadersUntilAllAreDone) {
  Contenders race(2);
  EXPECT_TRUE(race.may_win(0, 7));
  race.score(0, 1, 0.2);
  race.score(0, 2, 0.3);
  EXPECT_TRUE(race.may_win(0, 1));
  EXPECT_FALSE(race.may_win(0, 2));
  EXPECT_TRUE(race.may_win(0, 3)) << "not seen yet";
  EXPECT_TRUE(race.may_win(1, 2)) << "another bootstrap";
  race.score(0, 1, 0.36);
  EXPECT_TRUE(race.may_win(0, 2)) << "0.02 behind, and better than the leader's worst";
  race.score(0, 2, 0.28);
  EXPECT_FALSE(race.may_win(0, 2)) << "0.01 behind, and nothing is to come";
  race.score(1, 1, std::numeric_limits<double>::infinity());
  race.score(1, 2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(race.may_win(1, 1)) << "nobody is ahead";
  race.score(1, 3, 5);
  EXPECT_FALSE(race.may_win(1, 2));
}

TEST(Policy, ARefitHasTheCostsOfItsCandidateAndRunsAlone) {
  constexpr uint32_t refit = 2;
  Workload workload = of({{{0}, 5, 1, 7}, {{1}, 5, 1, 7}, {{2}, 0, 0, 7}});
  workload.positions = {{0, 0, {0.1}}, {0, 0, {0.9}}};
  workload.refits = 1;
  Policy policy(workload, {{"a", 10, 0}});
  policy.wait(0);
  policy.fill(refit, 20, 1, 0);
  EXPECT_FALSE(policy.next(0, 0)->bundles == std::vector<uint32_t>{refit}) << "it does not wait yet";
  finish(policy, 0, {{0}, false}, 50, 50);
  EXPECT_NEAR(policy.predicted_seconds(refit, 0), 200, 1e-9);
  policy.wait(1);
  policy.wait(refit);
  EXPECT_EQ(policy.next(0, 50)->bundles, (std::vector<uint32_t>{refit}));
}

// The unit is 30 times slower than the others, and its speed is known.
TEST(Policy, ASlowUnitLeavesWorkThatAFasterOneFinishesSooner) {
  Policy policy(of({{{0}, 8, 1, 0}, {{1}, 4, 1, 1}, {{2}, 0.01, 1, 2}}), {{"fast", 10, 30}, {"slow", 10, 1}});
  for (uint32_t i = 0; i < 3; ++i) policy.wait(i);
  ASSERT_EQ(policy.next(0, 0)->bundles, (std::vector<uint32_t>{0}));
  EXPECT_EQ(policy.next(1, 0)->bundles, (std::vector<uint32_t>{2})) << "4 would take it 30 times as long";
  finish(policy, 1, {{2}, false}, 0, 0.1);
  EXPECT_FALSE(policy.next(1, 0.1));
  policy.retire(0);
  EXPECT_EQ(policy.next(1, 0.1)->bundles, (std::vector<uint32_t>{1})) << "nobody else is left";
}

TEST(Policy, ASpareUnitTakesOnlyWorkThatNoOtherCanDo) {
  Policy policy(of({{{0}, 8, 1, 0}, {{1}, 8, 1000, 1}, {{2}, 8, 1, 2}}),
                {{"fast", 10, 30, false}, {"spare", 1000, 29, true}});
  for (uint32_t i = 0; i < 3; ++i) policy.wait(i);
  ASSERT_EQ(policy.next(1, 0)->bundles, (std::vector<uint32_t>{1})) << "it fits nowhere else";
  finish(policy, 1, {{1}, false}, 1, 1);
  EXPECT_FALSE(policy.next(1, 1));
  ASSERT_EQ(policy.next(0, 1)->bundles, (std::vector<uint32_t>{0}));
  EXPECT_FALSE(policy.next(1, 1000)) << "no copy either";
  policy.retire(0);
  EXPECT_TRUE(policy.next(1, 1000)) << "nobody else is left";
}

TEST(Policy, NoUnitWaitsForASpareUnit) {
  Policy policy(of({{{0}, 8, 1000, 0}}), {{"fast", 10, 13000}, {"slow", 1000, 40}, {"spare", 1000, 6520, true}});
  policy.wait(0);
  EXPECT_FALSE(policy.next(2, 0));
  EXPECT_TRUE(policy.next(1, 0)) << "the faster one rests while this one can";
}

TEST(Policy, ASlowUnitTakesWorkThatFitsNowhereElse) {
  Policy policy(of({{{0}, 8, 1000, 0}, {{1}, 8, 1, 1}}), {{"fast", 10, 30}, {"slow", 1000, 1}});
  policy.wait(0);
  policy.wait(1);
  EXPECT_EQ(policy.next(1, 0)->bundles, (std::vector<uint32_t>{0}));
}

TEST(Policy, NoUnitWaitsForeverForAFasterOneThatOverruns) {
  Policy policy(of({{{0}, 2, 1, 0}, {{1}, 2, 1, 1}, {{2}, 2, 1, 2}}), {{"fast", 10, 4}, {"slow", 10, 1}});
  for (uint32_t i = 0; i < 2; ++i) policy.wait(i);
  finish(policy, 0, *policy.next(0, 0), 1, 1);  // a cost of 2 takes 1 s, and 4 s on the slow unit
  ASSERT_TRUE(policy.next(0, 1));
  policy.wait(2);
  EXPECT_FALSE(policy.next(1, 1.5)) << "the fast one would end both within 3 s";
  EXPECT_TRUE(policy.next(1, 9)) << "it should have ended long ago: it hangs";
}

TEST(Policy, AnIdleUnitCopiesTheLastStraggler) {
  Policy policy(of({{{0}, 4, 1, 0}, {{1}, 4, 1, 1}}), {{"slow", 10, 1}, {"fast", 10, 8}, {"fast", 10, 8}});
  policy.wait(0);
  finish(policy, 1, *policy.next(1, 0), 1, 1);  // a cost of 4 takes a fast unit 1 s, and the slow unit 8 s
  policy.retire(1);
  policy.retire(2);
  policy.wait(1);
  const auto held = policy.next(0, 1);
  ASSERT_TRUE(held);
  policy.readmit(1);
  policy.readmit(2);
  const auto copy = policy.next(1, 2);
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->backup);
  EXPECT_EQ(copy->bundles, held->bundles);
  EXPECT_FALSE(policy.next(2, 2)) << "one copy is enough";
  EXPECT_TRUE(policy.superfluous().empty());
  finish(policy, 1, *copy, 1, 3);
  EXPECT_EQ(policy.superfluous(), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(policy.superfluous().empty()) << "each is named once";
  finish(policy, 0, *held, 2, 3.1);
  EXPECT_NEAR(policy.predicted_seconds(0, 0), 8, 1) << "a unit that was told to stop teaches nothing";
}

TEST(Policy, WorkIsNotCopiedIfItsHolderFinishesAboutAsSoon) {
  Policy policy(of({{{0}, 4, 1, 0}, {{1}, 4, 1, 1}}), {{"a", 10, 1}, {"a", 10, 1}});
  policy.wait(0);
  finish(policy, 0, *policy.next(0, 0), 10, 10);
  policy.wait(1);
  ASSERT_TRUE(policy.next(0, 10));
  EXPECT_FALSE(policy.next(1, 11));
  EXPECT_FALSE(policy.next(1, 19));
  EXPECT_TRUE(policy.next(1, 33)) << "it was to end at 20";
}

TEST(Policy, AnIdleUnitTakesTheEndOfALongAssignment) {
  std::vector<Bundle> bundles;
  for (uint32_t i = 0; i < 6; ++i) bundles.push_back({{i}, 1, 1, i == 0 ? 1U : 0U});
  Policy policy(of(bundles), {{"a", 10, 0}, {"a", 10, 0}});
  policy.wait(0);
  finish(policy, 0, *policy.next(0, 0), 10, 10);
  policy.retire(1);
  for (uint32_t i = 1; i < 6; ++i) policy.wait(i);
  const auto held = policy.next(0, 10);
  ASSERT_EQ(held->bundles.size(), 5U) << "it was alone";
  policy.readmit(1);
  policy.finished(1);
  const auto copy = policy.next(1, 20);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->bundles, (std::vector<uint32_t>{4, 5})) << "they meet in the middle of what is left";
  for (const uint32_t i : {2U, 3U}) policy.finished(i);
  EXPECT_TRUE(policy.superfluous().empty());
  finish(policy, 1, *copy, 20, 40);
  EXPECT_EQ(policy.superfluous(), (std::vector<uint32_t>{0}));
}

TEST(Policy, WorkThatOnlyOneUnitDidIsNotSuperfluous) {
  Policy policy(of({{{0}, 4, 1, 0}}), {{"a", 10, 1}});
  policy.wait(0);
  ASSERT_TRUE(policy.next(0, 0));
  policy.finished(0);
  EXPECT_TRUE(policy.superfluous().empty());
}

TEST(Policy, TheTimesOfAnEarlierSessionAreLearned) {
  Policy policy(of({{{0}, 4, 1, 0}, {{1}, 8, 1, 1}}), {{"a", 10, 0}});
  EXPECT_EQ(policy.predicted_seconds(0, 0), 0) << "nothing is known";
  policy.teach({"a", {0}, 12});
  EXPECT_NEAR(policy.predicted_seconds(0, 0), 12, 1e-9);
  EXPECT_NEAR(policy.predicted_seconds(1, 0), 24, 1e-9);
  EXPECT_EQ(policy.speed(0), 1);
}

TEST(Policy, SplitWorkIsAssignedOneByOne) {
  Policy policy(of({{{3, 4, 5}, 6, 1, 0}}), {{"a", 10, 0}});
  policy.wait(0);
  const std::vector<uint32_t> parts = policy.take_apart(0, {4, 5});
  for (const uint32_t part : parts) policy.wait(part);
  EXPECT_EQ(policy.next(0, 0)->bundles.size(), 1U) << "though one affinity on one unit";
}

}  // namespace
}  // namespace mokume::scheduler
