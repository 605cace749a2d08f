#include "search/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sdk/error.hpp"
#include "sdk/philox.hpp"

namespace mokume::search {
namespace {

using Kind = Space::Kind;

Space list(const std::string& name, std::vector<Value> values) { return {Kind::list, name, std::move(values), 0, 0}; }
Space range(Kind kind, double low, double high) { return {kind, "p", {}, low, high}; }

TEST(ToText, MatchesTheResults) {
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(1.0), "1");
  EXPECT_EQ(to_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(to_text(1e6), "1e+06");
  EXPECT_EQ(to_text(int64_t{-7}), "-7");
  EXPECT_EQ(to_text(std::string("rbf")), "rbf");
  EXPECT_EQ(to_text(true), "true");
  EXPECT_EQ(to_text(false), "false");
}

std::vector<std::string> texts(const std::vector<std::vector<Value>>& candidates) {
  std::vector<std::string> all;
  for (const auto& candidate : candidates) {
    std::string& text = all.emplace_back();
    for (const Value& value : candidate) text += (text.empty() ? "" : " ") + to_text(value);
  }
  return all;
}

// Returns the spaces of a kernel, its gamma, which a linear kernel does not have, and what depends on gamma.
std::vector<Space> conditional() {
  std::vector<Space> spaces = {list("kernel", {std::string("linear"), std::string("rbf")}), list("gamma", {1.0, 2.0}),
                               list("C", {int64_t{3}, int64_t{4}}), list("tol", {0.1, 0.2})};
  spaces[1].when = {{"kernel", 0, {std::string("rbf")}}};
  spaces[1].otherwise = 2.0;  // a linear kernel has this value, but does not vary it
  spaces[3].when = {{"gamma", 1, {2.0}}, {"C", 2, {int64_t{4}}}};
  spaces[3].otherwise = 0.7;
  return spaces;
}

TEST(Grid, DoesNotVaryWhatDoesNotCount) {
  EXPECT_EQ(texts(grid_candidates(conditional())),
            (std::vector<std::string>{"linear 2 3 0.7", "linear 2 4 0.7", "rbf 1 3 0.7", "rbf 1 4 0.7", "rbf 2 3 0.7",
                                      "rbf 2 4 0.1", "rbf 2 4 0.2"}));
}

TEST(Grid, LimitsTheCandidatesAndNotTheProduct) {
  std::vector<Space> spaces = {list("branch", {})};
  for (int64_t b = 0; b < 9; ++b) spaces[0].values.emplace_back(b);
  for (size_t b = 0; b < 9; ++b) {
    Space& one = spaces.emplace_back(list("p" + std::to_string(b), {}));
    for (int64_t v = 0; v < 10; ++v) one.values.emplace_back(v);
    one.when = {{"branch", 0, {static_cast<int64_t>(b)}}};
    one.otherwise = int64_t{0};
  }
  EXPECT_EQ(grid_candidates(spaces).size(), 90U);
  for (Space& space : spaces) space.when.clear();
  EXPECT_THROW(grid_candidates(spaces), Error);
}

TEST(Conditions, ApplyToDrawnCandidates) {
  auto drawn = random_candidates(conditional(), 200, 5);
  const auto plain = drawn;
  std::set<std::string> kinds;
  for (size_t c = 0; c < drawn.size(); ++c) {
    apply_conditions(conditional(), drawn[c]);
    EXPECT_EQ(drawn[c][0], plain[c][0]);
    EXPECT_EQ(drawn[c][2], plain[c][2]);
    kinds.insert(texts({drawn[c]})[0]);
  }
  const auto grid = texts(grid_candidates(conditional()));
  EXPECT_EQ(kinds, std::set<std::string>(grid.begin(), grid.end()));
}

TEST(Grid, TheLastParameterVariesFastest) {
  const auto c =
      grid_candidates({list("a", {1.0, 2.0}), list("b", {std::string("x"), std::string("y"), std::string("z")})});
  ASSERT_EQ(c.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(c[i].size(), 2U);
    EXPECT_EQ(std::get<double>(c[i][0]), i < 3 ? 1.0 : 2.0);
    EXPECT_EQ(std::get<std::string>(c[i][1]), std::string(1, static_cast<char>('x' + i % 3)));
  }
}

TEST(Grid, WithoutParametersIsOneCandidate) {
  const auto c = grid_candidates({});
  ASSERT_EQ(c.size(), 1U);
  EXPECT_TRUE(c[0].empty());
}

TEST(Grid, RefusesAParameterWithoutAList) {
  EXPECT_THROW(grid_candidates({list("a", {})}), Error);
  EXPECT_THROW(grid_candidates({range(Kind::real_uniform, 0, 1)}), Error);
}

// The sizes multiply to 2^66. The product must not wrap to a small number, and nothing may be allocated.
TEST(Grid, RefusesTooManyCandidatesWithoutOverflow) {
  const std::vector<Value> values(size_t{1} << 11, Value(1.0));
  const std::vector<Space> spaces(6, list("a", values));
  try {
    grid_candidates(spaces);
    FAIL() << "2^66 candidates were made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("10 million"), std::string::npos);
  }
}

TEST(Random, DrawsEachParameterFromItsOwnStream) {
  const std::vector<Space> spaces = {range(Kind::real_uniform, 2, 6), range(Kind::log10_uniform, -5, -1),
                                     range(Kind::integer_uniform, -3, 3),
                                     list("t", {std::string("a"), std::string("b"), std::string("c")})};
  const auto all = random_candidates(spaces, 50, 77);
  ASSERT_EQ(all.size(), 50U);
  for (uint32_t c = 0; c < 50; ++c) {
    const auto stream = [&](uint32_t p) { return sdk::Random(77, sdk::Purpose::search, c, p); };
    EXPECT_EQ(std::get<double>(all[c][0]), 2 + stream(0).uniform(0) * 4);
    EXPECT_EQ(std::get<double>(all[c][1]), std::pow(10.0, -5 + stream(1).uniform(0) * 4));
    EXPECT_EQ(std::get<int64_t>(all[c][2]), static_cast<int64_t>(stream(2).below(0, 7)) - 3);
    EXPECT_EQ(std::get<std::string>(all[c][3]), std::string(1, static_cast<char>('a' + stream(3).below(0, 3))));
  }
  // A draw does not depend on the number of candidates or on later parameters.
  const auto fewer = random_candidates({spaces[0], spaces[1]}, 3, 77);
  for (size_t c = 0; c < 3; ++c) EXPECT_TRUE(fewer[c] == std::vector<Value>(all[c].begin(), all[c].begin() + 2));
  EXPECT_FALSE(random_candidates(spaces, 50, 78) == all);
}

TEST(Random, IntegersReachBothEnds) {
  std::set<int64_t> seen;
  for (const auto& c : random_candidates({range(Kind::integer_uniform, 2, 10)}, 500, 1))
    seen.insert(std::get<int64_t>(c[0]));
  EXPECT_EQ(seen.size(), 9U);
  EXPECT_EQ(*seen.begin(), 2);
  EXPECT_EQ(*seen.rbegin(), 10);
}

TEST(Random, StepsAreDrawnFromTheFirstEndOn) {
  Space units = range(Kind::integer_uniform, 32, 100), rate = range(Kind::real_uniform, 0, 0.4);
  units.step = 32;
  rate.step = 0.1;
  std::set<int64_t> integers;
  std::set<double> reals;
  for (const auto& c : random_candidates({units, rate}, 200, 1)) {
    integers.insert(std::get<int64_t>(c[0]));
    reals.insert(std::get<double>(c[1]));
  }
  EXPECT_EQ(integers, (std::set<int64_t>{32, 64, 96}));
  EXPECT_EQ(reals, (std::set<double>{0, 0.1, 0.2, 0.3, 0.4}));  // in binary, 3 * 0.1 is not 0.3
}

TEST(Random, LogarithmsOfIntegersAreUniform) {
  std::map<int64_t, int> count;
  for (const auto& c : random_candidates({range(Kind::integer_log, 1, 1000)}, 30000, 5))
    ++count[std::get<int64_t>(c[0])];
  EXPECT_EQ(count.begin()->first, 1);
  EXPECT_EQ(count.rbegin()->first, 1000);
  // An integer k has the share log((k + 0.5) / (k - 0.5)) / log(1000.5 / 0.5).
  EXPECT_NEAR(count[1] / 30000.0, std::log(3) / std::log(2001), 0.01);
  int above_100 = 0;
  for (const auto& [value, n] : count) above_100 += value > 100 ? n : 0;
  EXPECT_NEAR(above_100 / 30000.0, std::log(1000.5 / 100.5) / std::log(2001), 0.01);
}

TEST(Random, WideRangesDoNotOverflow) {
  const double wide = 9007199254740992;
  for (const auto& c : random_candidates({range(Kind::integer_uniform, -wide, wide)}, 100, 3)) {
    EXPECT_GE(std::get<int64_t>(c[0]), int64_t{-9007199254740992});
    EXPECT_LE(std::get<int64_t>(c[0]), int64_t{9007199254740992});
  }
}

TEST(Random, RefusesBadSpaces) {
  EXPECT_THROW(random_candidates({list("a", {})}, 1, 0), Error);
  EXPECT_THROW(random_candidates({range(Kind::integer_uniform, 3, 2)}, 1, 0), Error);
  EXPECT_THROW(random_candidates({range(Kind::integer_log, 0, 2)}, 1, 0), Error);
  EXPECT_THROW(random_candidates({range(Kind::real_uniform, 0, 1)}, std::numeric_limits<uint32_t>::max(), 0), Error);
}

TEST(Plan, KeysFollowTheFormula) {
  Plan plan;
  plan.candidates.resize(3);
  plan.bootstraps = 4;
  plan.folds = 5;
  ASSERT_EQ(plan.n_fits(), 60U);
  for (uint32_t id = 0; id < plan.n_fits(); ++id) {
    const FitKey key = plan.key(id);
    EXPECT_EQ((key.candidate * plan.bootstraps + key.bootstrap) * plan.folds + key.fold, id);
    EXPECT_LT(key.fold, plan.folds);
    EXPECT_LT(key.bootstrap, plan.bootstraps);
  }
}

}  // namespace
}  // namespace mokume::search
