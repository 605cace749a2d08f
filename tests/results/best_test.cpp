#include "results/best.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "results/support.hpp"

namespace mokume::results {
namespace {

// Plans two folds of the candidates C = 1, 10, 100.
search::Plan plan() {
  search::Plan plan;
  plan.params = {"C"};
  plan.candidates = {{1.0}, {10.0}, {100.0}};
  plan.folds = 2;
  return plan;
}

journal::FitRecord fit(uint32_t id, double error) {
  journal::FitRecord record;
  record.fit = id;
  record.n = 100;
  record.values = {error};
  return record;
}

const std::vector<Metric> kMetrics = {{"error", false, true}};

TEST(BestSoFar, CountsCompleteCandidatesOnly) {
  const search::Plan three = plan();
  BestSoFar best(three, kMetrics);
  EXPECT_EQ(best.text(), "");
  EXPECT_FALSE(best.add(fit(2, 0.1)));
  EXPECT_FALSE(best.best()) << "one of two folds";
  EXPECT_TRUE(best.add(fit(3, 0.2)));
  EXPECT_EQ(best.text(), "error 15 % with C = 10");
  EXPECT_FALSE(best.add(fit(4, 0.0)));
  EXPECT_FALSE(best.add(fit(5, 0.4)));
  EXPECT_EQ(best.best()->candidate, 1U) << "a mean of 20 % is worse";
  EXPECT_FALSE(best.add(fit(6, 0.01))) << "the refit is no fit of a fold";
}

TEST(BestSoFar, OfEqualMeansTheFirstCandidateCountsAsInTheTables) {
  const search::Plan three = plan();
  BestSoFar best(three, kMetrics);
  for (const uint32_t id : {4U, 5U}) best.add(fit(id, 0.25));
  for (const uint32_t id : {0U, 1U}) best.add(fit(id, 0.25));
  EXPECT_EQ(best.best()->candidate, 0U);
  EXPECT_DOUBLE_EQ(best.best()->mean, 0.25);
}

TEST(BestSoFar, IgnoresFitsWithoutAValue) {
  const search::Plan three = plan();
  BestSoFar best(three, kMetrics);
  journal::FitRecord failed = fit(0, 0);
  failed.status = journal::FitStatus::failed;
  failed.values.clear();
  best.add(failed);
  best.add(fit(1, 0.1));
  best.add(fit(2, std::nan("")));
  best.add(fit(3, 0.1));
  EXPECT_FALSE(best.best());
}

TEST(ScoreText, RoundsToFourDigits) {
  EXPECT_EQ(score_text("error", 0.040812345), "4.081 %");
  EXPECT_EQ(score_text("error", 0.5), "50 %");
  EXPECT_EQ(score_text("mse", 1234.5678), "1235");
  EXPECT_EQ(score_text("mse", 1e-7 / 3), "3.333e-8");
}

}  // namespace
}  // namespace mokume::results
