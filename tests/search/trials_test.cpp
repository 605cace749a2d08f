#include "search/trials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace mokume::search {
namespace {

using Result = TrialChooser::Result;
using Kind = Space::Kind;
using Loss = std::function<double(const std::vector<Value>&)>;

Space words(std::vector<Value> values) { return {Kind::list, "word", std::move(values), 0, 0}; }
Space number() { return {Kind::real_uniform, "x", {}, 0, 1}; }

Plan plan_of(const std::vector<Space>& spaces, uint32_t candidates) {
  Plan plan;
  plan.candidates = random_candidates(spaces, candidates, 5);
  for (std::vector<Value>& candidate : plan.candidates) {
    apply_conditions(spaces, candidate);
    plan.counting.push_back(counting(spaces, candidate));
  }
  return plan;
}

// Returns the trials of a search in their order, of which `at_once` are under way at once.
std::vector<Result> search(const std::vector<Space>& spaces, const Plan& plan, const Loss& loss, size_t trials,
                           size_t at_once = 1, uint64_t seed = 1) {
  const TrialChooser chooser(spaces, plan, 0, seed);
  std::vector<Result> all;
  while (all.size() < trials) {
    const size_t known = all.size() + 1 > at_once ? all.size() + 1 - at_once : 0;
    std::vector<uint32_t> pending;
    for (size_t i = known; i < all.size(); ++i) pending.push_back(all[i].candidate);
    const uint32_t next = chooser.next({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known)}, pending);
    all.push_back({next, loss(plan.candidates.at(next))});
  }
  return all;
}

double best_of(const std::vector<Result>& trials) {
  double best = std::numeric_limits<double>::infinity();
  for (const Result& one : trials) best = std::min(best, one.loss);
  return best;
}

double bowl(const std::vector<Value>& at) {
  double sum = 0;
  for (const Value& value : at)
    if (const auto* x = std::get_if<double>(&value)) sum += (*x - 0.3) * (*x - 0.3);
  return sum;
}

std::vector<uint32_t> candidates(const std::vector<Result>& trials) {
  std::vector<uint32_t> all;
  for (const Result& one : trials) all.push_back(one.candidate);
  return all;
}

TEST(TrialChooser, TakesEachCandidateOnce) {
  const std::vector<Space> spaces = {number(), number()};
  const Plan plan = plan_of(spaces, 60);
  const auto all = candidates(search(spaces, plan, bowl, 60, 4));
  EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), 60U);
}

TEST(TrialChooser, IsAFunctionOfSeedAndResults) {
  const std::vector<Space> spaces = {number(), number()};
  const Plan plan = plan_of(spaces, 500);
  EXPECT_EQ(candidates(search(spaces, plan, bowl, 40)), candidates(search(spaces, plan, bowl, 40)));
  EXPECT_NE(candidates(search(spaces, plan, bowl, 40)), candidates(search(spaces, plan, bowl, 40, 1, 2)));
}

TEST(TrialChooser, FindsALowerLossThanChance) {
  const std::vector<Space> spaces = {number(), number(), number()};
  const Plan plan = plan_of(spaces, 3000);
  double chosen = 0, drawn = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const size_t at_once : {1, 8}) chosen += best_of(search(spaces, plan, bowl, 60, at_once, seed)) / 2;
    drawn += best_of(search(spaces, plan, bowl, 60, 60, seed));  // no result is known
  }
  EXPECT_LT(chosen, drawn / 3);
}

TEST(TrialChooser, PrefersTheWordsOfTheBest) {
  const std::vector<Space> spaces = {words({"a", "b", "c"}), number()};
  const Plan plan = plan_of(spaces, 2000);
  const auto loss = [](const std::vector<Value>& at) {
    return bowl(at) + (std::get<std::string>(at[0]) == "b" ? 0 : 9);
  };
  size_t right = 0;
  const auto trials = search(spaces, plan, loss, 60);
  for (size_t i = 30; i < trials.size(); ++i) right += trials[i].loss < 9 ? 1 : 0;
  EXPECT_GE(right, 25U);
}

TEST(TrialChooser, LeavesOutParametersThatDoNotCount) {
  std::vector<Space> spaces = {words({"a", "b"}), number(), number()};
  spaces[1].when = {{"word", 0, {"a"}}};
  spaces[1].otherwise = 0.3;  // looks like the best value, but does not count
  const Plan plan = plan_of(spaces, 2000);
  const auto loss = [](const std::vector<Value>& at) {
    return bowl(at) + (std::get<std::string>(at[0]) == "a" ? 0 : 1);
  };
  EXPECT_LT(best_of(search(spaces, plan, loss, 80)), 0.01);
}

TEST(TrialChooser, SurvivesCandidatesThatFail) {
  const std::vector<Space> spaces = {number()};
  const Plan plan = plan_of(spaces, 300);
  const auto loss = [](const std::vector<Value>& at) {
    const double x = std::get<double>(at[0]);
    return x > 0.5 ? std::numeric_limits<double>::infinity() : bowl(at);
  };
  EXPECT_LT(best_of(search(spaces, plan, loss, 30)), 1e-3);
  const auto fails = [](const std::vector<Value>&) { return std::numeric_limits<double>::infinity(); };
  EXPECT_EQ(search(spaces, plan, fails, 30).size(), 30U);
}

TEST(TrialChooser, ChoosesFromTheCandidatesOfABootstrap) {
  const std::vector<Space> spaces = {number()};
  Plan plan = plan_of(spaces, 60);
  plan.bootstraps = 3;
  plan.own_candidates = 20;
  const TrialChooser chooser(spaces, plan, 2, 1);
  std::vector<Result> all;
  for (int trial = 0; trial < 20; ++trial) {
    const uint32_t next = chooser.next(all, {});
    EXPECT_TRUE(plan.has(next, 2)) << next;
    all.push_back({next, bowl(plan.candidates[next])});
  }
}

TEST(TrialChooser, PlacesAListByRank) {
  const std::vector<Space> spaces = {
      {Kind::list, "C", {0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0}, 0, 0},
      {Kind::list, "n", {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{5}}, 0, 0}};
  Plan plan;
  plan.candidates = grid_candidates(spaces);
  const auto loss = [](const std::vector<Value>& at) {
    return std::abs(std::log10(std::get<double>(at[0])) - 1) +
           std::abs(static_cast<double>(std::get<int64_t>(at[1])) - 2);
  };
  EXPECT_EQ(best_of(search(spaces, plan, loss, 20)), 0);
}

}  // namespace
}  // namespace mokume::search
