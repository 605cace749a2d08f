#include "scheduler/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sdk/philox.hpp"

namespace mokume::scheduler {
namespace {

// Makes 20 x 20 candidates in 5 folds. Their times vary smoothly by a factor of a hundred, and slightly from fold to
// fold, which the guesses do not reflect.
struct Surface {
  static constexpr uint32_t kSide = 20, kFolds = 5;
  std::vector<Position> positions;
  std::vector<double> seconds;

  Surface() {
    const sdk::Random noise(5, sdk::Purpose::schedule);
    for (uint32_t a = 0; a < kSide; ++a)
      for (uint32_t b = 0; b < kSide; ++b)
        for (uint32_t fold = 0; fold < kFolds; ++fold) {
          const double x = a / (kSide - 1.0), y = b / (kSide - 1.0);
          positions.push_back({0, fold, {x, y}});
          seconds.push_back(std::exp(3 * x + 1.6 * std::sin(4 * y) * x) *
                            (0.95 + 0.1 * noise.uniform(positions.size())));
        }
  }
  std::vector<double> guesses() const { return std::vector<double>(seconds.size(), 1e9); }
};

TEST(CostModel, ATenthOfASurfacePredictsTheRestWithin30Percent) {
  const Surface surface;
  CostModel model(surface.positions, surface.guesses(), {1});
  const sdk::Random draw(6, sdk::Purpose::schedule);
  std::vector<bool> seen(surface.seconds.size());
  double all = 0, taken = 0;
  for (const double seconds : surface.seconds) all += seconds;
  for (uint64_t k = 0; taken < 0.1 * all; ++k) {
    const auto fit = static_cast<uint32_t>(draw.below(k, seen.size()));
    if (seen[fit]) continue;
    seen[fit] = true;
    taken += surface.seconds[fit];
    model.observe(0, {{fit}}, surface.seconds[fit]);
  }
  double error = 0, rest = 0;
  for (uint32_t fit = 0; fit < seen.size(); ++fit) {
    if (seen[fit]) continue;
    error += std::abs(model.work(fit) - surface.seconds[fit]);
    rest += surface.seconds[fit];
  }
  EXPECT_LT(error / rest, 0.3);
}

TEST(CostModel, NearerFitsWeighMore) {
  const std::vector<Position> positions = {{0, 0, {0.0}}, {0, 1, {0.0}}, {0, 0, {0.1}}, {0, 0, {1.0}}, {1, 0, {0.0}}};
  CostModel model(positions, {2, 2, 2, 2, 4}, {1});
  EXPECT_FALSE(model.knows_seconds());
  EXPECT_EQ(model.work(0), 2) << "a guess, before anything is seen";
  model.observe(0, {{0}}, 10);
  model.observe(0, {{3}}, 1000);
  EXPECT_TRUE(model.knows_seconds());
  EXPECT_NEAR(model.work(0), 10, 1e-9) << "its own";
  EXPECT_NEAR(model.work(1), 10, 1e-9) << "another fold of the candidate";
  EXPECT_NEAR(model.work(4), 20, 1e-9) << "another bootstrap, of which the guess says that it is twice as long";
  EXPECT_GT(model.work(2), 10);
  EXPECT_LT(model.work(2), 20) << "next to the candidate that took 10";
  model.observe(0, {{1}}, 40);
  EXPECT_NEAR(model.work(0), 10, 1e-9);
  EXPECT_NEAR(model.work(1), 40, 1e-9);
}

TEST(CostModel, ABundlesTimeIsDividedByTheEstimatesOfItsFits) {
  CostModel model({}, {1, 1, 1}, {1});
  model.observe(0, {{0}}, 30);
  model.observe(0, {{1}}, 10);
  model.observe(0, {{0, 1}}, 20);
  EXPECT_NEAR(model.work(0), 15, 1e-9);
  EXPECT_NEAR(model.work(1), 5, 1e-9);
}

TEST(CostModel, LearnsTheSpeedOfAClass) {
  const Surface surface;
  // The model has a probe that was wrong by a factor of two, a class without a probe, and a class without observations.
  CostModel model(surface.positions, surface.guesses(), {1, 0.1, 0, 3});
  const double truth[] = {1, 0.2, 4};
  const sdk::Random draw(7, sdk::Purpose::schedule);
  for (uint64_t k = 0; k < 300; ++k) {
    const auto fit = static_cast<uint32_t>(draw.below(2 * k, surface.seconds.size()));
    const auto on = static_cast<uint32_t>(draw.below(2 * k + 1, 3));
    model.observe(on, {{fit}}, surface.seconds[fit] / truth[on]);
  }
  EXPECT_NEAR(model.speed(1) / model.speed(0), 0.2, 0.02);
  EXPECT_NEAR(model.speed(2) / model.speed(0), 4, 0.4);
  EXPECT_EQ(model.speed(3), 3) << "as measured beforehand";
}

TEST(CostModel, ARunningFitRaisesTheEstimateOfItsOtherFolds) {
  CostModel model({{0, 0, {0.0}}, {0, 0, {1.0}}, {0, 1, {1.0}}}, {1, 1, 1}, {1, 2});
  model.running(0, {{1}}, 50);
  EXPECT_EQ(model.work_by_running(2), 1) << "the unit of the guesses is not known";
  model.observe(0, {{0}}, 2);
  const uint64_t version = model.version();
  model.running(1, {{1}}, 50);
  EXPECT_NEAR(model.work_by_running(2), 100, 1e-9);
  EXPECT_NE(model.version(), version);
  EXPECT_NEAR(model.work(2), 2, 1e-3) << "it may hang, though";
  model.observe(0, {{1}}, 30);
  EXPECT_NEAR(model.work_by_running(2), 30, 1e-9) << "now it is known";
}

TEST(CostModel, InvalidNumbersAreIgnored) {
  const double nan = std::nan("");
  CostModel model({}, {1, nan, -1, 0, 8}, {nan, 0});
  for (uint32_t fit = 1; fit < 5; ++fit) EXPECT_EQ(model.work(fit), 8) << "counts as the longest";
  model.observe(0, {{0}}, 0);
  model.observe(0, {{0}}, nan);
  model.observe(0, {}, 3);
  EXPECT_FALSE(model.knows_seconds());
  EXPECT_EQ(model.speed(0), 1);
  const uint32_t one_more = model.add_fit({0, 0, {1.0}}, nan);
  EXPECT_EQ(one_more, 5U);
  EXPECT_EQ(model.work(one_more), 8);
}

}  // namespace
}  // namespace mokume::scheduler
