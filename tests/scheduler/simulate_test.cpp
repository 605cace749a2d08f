#include "scheduler/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::scheduler {
namespace {

// Makes bundles of one fit each that take `seconds`. The policy has the same guess for all of them.
Scenario of(const std::vector<double>& seconds, const std::vector<double>& speeds) {
  Scenario made;
  made.seconds = seconds;
  for (uint32_t i = 0; i < seconds.size(); ++i) {
    made.workload.bundles.push_back({{i}, 1, 0, i});
    made.workload.positions.push_back({0, 0, {static_cast<double>(i) / static_cast<double>(seconds.size())}});
  }
  for (const double speed : speeds) made.units.push_back({{std::to_string(speed), 0, speed}, speed});
  made.ask_again_s = 0.01;
  return made;
}

// Makes a grid of 24 rows that share work, in 5 folds. Neighbours take similar times, 1 to 8 s; the guesses are wrong.
Scenario grid(const std::vector<double>& speeds) {
  std::vector<double> seconds;
  const sdk::Random noise(3, sdk::Purpose::schedule);
  for (uint32_t row = 0; row < 24; ++row)
    for (uint32_t fold = 0; fold < 5; ++fold)
      seconds.push_back(std::pow(8, row / 23.0) * (0.95 + 0.1 * noise.uniform(seconds.size())));
  Scenario made = of(seconds, speeds);
  for (uint32_t i = 0; i < seconds.size(); ++i) {
    made.workload.positions[i] = {0, i % 5, {i / 5 / 23.0}};
    made.workload.bundles[i].affinity = i / 5;
  }
  return made;
}

std::vector<double> equal(size_t n) { return std::vector<double>(n, 1); }

TEST(Simulate, TakesSpeedsAndMessagesIntoAccount) {
  Scenario two = of({3, 1, 1, 1}, {1, 1});
  EXPECT_DOUBLE_EQ(simulate(two, Rule::contiguous).makespan_s, 4);
  EXPECT_DOUBLE_EQ(simulate(two, Rule::contiguous).efficiency, 6 / (4 * 2.0));
  EXPECT_DOUBLE_EQ(simulate(two, Rule::first_come).makespan_s, 3);
  two.lease_s = 0.5;
  EXPECT_DOUBLE_EQ(simulate(two, Rule::first_come).makespan_s, 4.5);
  const Simulated unequal = simulate(of({3, 1, 1, 1}, {1, 3}), Rule::contiguous);
  EXPECT_DOUBLE_EQ(unequal.makespan_s, 4) << "half of the bundles each, whatever the speed";
  EXPECT_DOUBLE_EQ(unequal.efficiency, 6 / (4 * 4.0));
}

TEST(Simulate, TheRandomOrderDependsOnTheSeed) {
  Scenario one = grid(equal(6));
  one.seed = 1;
  const double first = simulate(one, Rule::shuffled).makespan_s;
  EXPECT_EQ(simulate(one, Rule::shuffled).makespan_s, first);
  one.seed = 2;
  EXPECT_NE(simulate(one, Rule::shuffled).makespan_s, first);
}

TEST(Simulate, ARefitWaitsForItsBootstrap) {
  for (const Rule rule : {Rule::contiguous, Rule::shuffled, Rule::first_come, Rule::ours}) {
    Scenario one = of({1, 1, 1, 5}, equal(4));
    one.workload.positions[3].bootstrap = 1;
    one.refits = {{0, 2, 1, 4}, {1, 3, 1, 2}};
    EXPECT_DOUBLE_EQ(simulate(one, rule).makespan_s, 7) << static_cast<int>(rule);
  }
}

// These tests check lower bounds of the simulated results. Each fails without one of the policy's rules.
TEST(Simulate, ThePolicyKeepsEqualUnitsBusy) {
  EXPECT_GT(simulate(grid(equal(4)), Rule::ours).efficiency, 0.99);
  EXPECT_GT(simulate(grid(equal(12)), Rule::ours).efficiency, 0.97);
  EXPECT_LT(simulate(grid(equal(12)), Rule::contiguous).efficiency, 0.6);
}

TEST(Simulate, ThePolicyKeepsUnequalUnitsBusy) {
  const Simulated ours = simulate(grid({1, 2, 30, 1, 2, 30}), Rule::ours);
  EXPECT_GT(ours.efficiency, 0.94);
  EXPECT_LT(simulate(grid({1, 2, 30, 1, 2, 30}), Rule::first_come).efficiency, 0.75);
}

TEST(Simulate, TheTimesOfEarlierRunsHelp) {
  Scenario one = grid(equal(40));
  const double learned = simulate(one, Rule::ours).efficiency;
  one.known = true;
  EXPECT_GT(simulate(one, Rule::ours).efficiency, learned + 0.02);
}

TEST(Simulate, CopiesHelpWhereAUnitIsSlowerThanItsClass) {
  Scenario one = grid(equal(6));
  one.units[5].speed = 0.05;  // this device throttles, unlike its class
  const Simulated ours = simulate(one, Rule::ours);
  EXPECT_GT(ours.backups, 0U);
  EXPECT_GT(ours.efficiency, 0.9);
}

TEST(Simulate, HandlesManyUnitsAndBundles) {
  std::vector<double> seconds;
  for (uint32_t i = 0; i < 2000; ++i) seconds.push_back(1 + i % 7);
  Scenario large = of(seconds, equal(200));
  large.ask_again_s = 1;
  EXPECT_GT(simulate(large, Rule::ours).efficiency, 0.9);
}

TEST(Simulate, ReportsWorkThatCanNeverBeDone) {
  EXPECT_THROW(simulate(of({1}, {}), Rule::ours), Error);
  Scenario heavy = of({1}, equal(1));
  heavy.workload.bundles[0].bytes = 10;
  EXPECT_THROW(simulate(heavy, Rule::ours), Error);
}

}  // namespace
}  // namespace mokume::scheduler
