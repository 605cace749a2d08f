#include "results/stats.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "results/support.hpp"

namespace mokume::results {
namespace {

using testing::error_metrics;
using testing::record;

// The expected values come from numpy.percentile with its default method.
TEST(Quantile, InterpolatesLinearlyAsNumPyDoes) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.75), 3.25);
  EXPECT_DOUBLE_EQ(quantile({7, 15, 36, 39, 40, 41}, 0.25), 20.25);
  EXPECT_DOUBLE_EQ(quantile({7, 15, 36, 39, 40, 41}, 0.75), 39.75);
  EXPECT_DOUBLE_EQ(quantile({3}, 0.25), 3);
  EXPECT_DOUBLE_EQ(quantile({1, 5}, 1), 5);
}

TEST(Majority, TiesGoToTheHigherCertainty) {
  EXPECT_EQ(majority(std::vector<uint32_t>{1, 3, 3}, std::vector<double>{2.5, 1.5, 1.75}), 2U);
}

TEST(Box, WhiskersEndAtTheLastValueWithinReach) {
  const Box box = box_of({100, 4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(box.q1, 2);
  EXPECT_DOUBLE_EQ(box.median, 3);
  EXPECT_DOUBLE_EQ(box.q3, 4);
  EXPECT_DOUBLE_EQ(box.low, 1);
  EXPECT_DOUBLE_EQ(box.high, 4);
  EXPECT_DOUBLE_EQ(box_of({7, 4, 1, 3, 2}).high, 7);  // exactly 1.5 box heights away
}

TEST(Wilson, GivesKnownIntervals) {
  EXPECT_NEAR(wilson(10, 100).low, 0.05522914, 1e-7);
  EXPECT_NEAR(wilson(10, 100).high, 0.17436566, 1e-7);
  EXPECT_DOUBLE_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(0, 10).high, 0.27753279, 1e-7);
  EXPECT_DOUBLE_EQ(wilson(3, 0).low, 0);
  EXPECT_DOUBLE_EQ(wilson(3, 0).high, 1);
}

search::Plan plan_of(size_t candidates, uint32_t bootstraps, uint32_t folds) {
  search::Plan plan;
  plan.params = {"C"};
  for (size_t c = 0; c < candidates; ++c) plan.candidates.push_back({static_cast<double>(c)});
  plan.bootstraps = bootstraps;
  plan.folds = folds;
  return plan;
}

TEST(Summarise, GivesMeanAndDeviationAndBreaksTiesByIndex) {
  const auto rows = summarise(plan_of(3, 1, 2), error_metrics(),
                              {record(0, 4), record(1, 2), record(2, 1), record(3, 2), record(4, 2), record(5, 4)});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_DOUBLE_EQ(rows[0].mean, 0.3);
  EXPECT_NEAR(rows[0].sd, 0.1414213562373095, 1e-15);
  EXPECT_DOUBLE_EQ(rows[0].min, 0.2);
  EXPECT_DOUBLE_EQ(rows[0].max, 0.4);
  EXPECT_EQ(rows[1].rank, 1U);
  EXPECT_EQ(rows[0].rank, 2U);  // the tie with candidate 2 goes to the lower index
  EXPECT_EQ(rows[2].rank, 3U);
}

TEST(Summarise, OneFoldHasNoDeviation) {
  const auto rows = summarise(plan_of(1, 1, 1), error_metrics(), {record(0, 4)});
  EXPECT_TRUE(rows[0].complete);
  EXPECT_DOUBLE_EQ(rows[0].sd, 0);
}

TEST(Summarise, IncompleteFailedAndNonFiniteRankLast) {
  auto failed = record(0, 0);
  failed.status = journal::FitStatus::failed;
  auto endless = record(4, 0);
  endless.values[1] = std::numeric_limits<double>::quiet_NaN();
  // Candidate 0 failed a fold, 1 lacks one, 2 has a value that is not a number, 3 is complete but bad.
  const auto rows = summarise(plan_of(4, 1, 2), error_metrics(),
                              {failed, record(1, 0), record(2, 0), endless, record(5, 0), record(6, 9), record(7, 9)});
  EXPECT_FALSE(rows[0].complete || rows[1].complete || rows[2].complete);
  EXPECT_TRUE(rows[3].complete);
  EXPECT_EQ(rows[3].rank, 1U);
  EXPECT_EQ(rows[0].rank, 2U);
  EXPECT_EQ(rows[1].rank, 3U);
  EXPECT_EQ(rows[2].rank, 4U);
}

TEST(Summarise, RanksWithinABootstrap) {
  // There are two candidates, two bootstraps and one fold, so fit = candidate * 2 + bootstrap.
  const auto rows =
      summarise(plan_of(2, 2, 1), error_metrics(), {record(0, 1), record(1, 9), record(2, 5), record(3, 2)});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].bootstrap, 1U);
  EXPECT_EQ(rows[0].rank, 1U);
  EXPECT_EQ(rows[2].rank, 2U);
  EXPECT_EQ(rows[3].rank, 1U);
  EXPECT_EQ(rows[1].rank, 2U);
}

// Candidate 1 was left behind, and candidate 0 is ahead of it in spite of its larger error.
TEST(Summarise, RanksByTheRungThatCandidatesReach) {
  search::Plan plan = plan_of(2, 1, 4);
  plan.repeats = 2;
  plan.factor = 2;
  std::vector<journal::FitRecord> records = {record(0, 2), record(1, 2), record(2, 4), record(3, 5),
                                             record(4, 3), record(5, 3), record(6, 0), record(7, 0)};
  for (const size_t dropped : {6U, 7U}) {
    records[dropped].status = journal::FitStatus::dropped;
    records[dropped].values.clear();
  }
  const auto rows = summarise(plan, error_metrics(), records);
  EXPECT_EQ(rows[0].rung, 1U);
  EXPECT_DOUBLE_EQ(rows[0].mean, 0.45);
  EXPECT_EQ(rows[0].rank, 1U);
  EXPECT_EQ(rows[1].rung, 0U);
  EXPECT_DOUBLE_EQ(rows[1].mean, 0.3);
  EXPECT_TRUE(rows[1].complete);
  EXPECT_EQ(rows[1].rank, 2U);
  EXPECT_EQ(plan.candidates_in(0), 2U);
  EXPECT_EQ(plan.candidates_in(1), 1U);
}

TEST(Summarise, WithoutASelectingMetricNothingIsComplete) {
  const auto rows = summarise(plan_of(1, 1, 1), {{"errors", true, false}}, {record(0, 1)});
  EXPECT_FALSE(rows[0].complete);
}

TEST(Summarise, RecordsOutsideThePlanAreIgnored) {
  const auto rows = summarise(plan_of(1, 1, 1), error_metrics(), {record(0, 1), record(4000000000U, 1)});
  EXPECT_DOUBLE_EQ(rows[0].mean, 0.1);
}

TEST(BusySeconds, BundleTimeCountsOncePerDevice) {
  auto a = record(0, 1), b = record(1, 1), c = record(2, 1), d = record(3, 1);
  a.start_s = b.start_s = 10, a.end_s = b.end_s = 14;  // one bundle
  c.start_s = 13, c.end_s = 15;                        // overlaps the bundle on the same device
  d.start_s = 10, d.end_s = 11, d.device = "host:0";
  RunView view;
  view.records = {a, b, c};
  view.refits = {d};
  EXPECT_DOUBLE_EQ(busy_seconds(view), 6);
  view.refits[0].end_s = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(busy_seconds(view), 5);
}

}  // namespace
}  // namespace mokume::results
