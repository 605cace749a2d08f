#include "node/validated.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

const std::vector<int32_t> kTruth = {0, 1, 2};

std::vector<data::MeasureInfo> every_measure() { return {data::all_measures().begin(), data::all_measures().end()}; }

TEST(Validated, LogProbabilitiesBecomeProbabilities) {
  const std::vector<float> logs = {std::log(0.25F), std::log(0.75F)};
  const auto values = class_values(MK_SCORES_LOG_PROBABILITIES, logs, 2);
  EXPECT_NEAR(values[0], 0.25, 1e-7);
  EXPECT_NEAR(values[1], 0.75, 1e-7);
  EXPECT_TRUE(std::isnan(class_values(MK_SCORES_LOG_PROBABILITIES, std::vector<float>{-1000, NAN}, 2)[0]));
}

const std::vector<int64_t> kRows = {0, 1, 2};

data::Table three_rows() {
  data::Table table;
  table.rows = 3;
  table.targets = {1, 2, 4};
  return table;
}

mk_validated classified(const int32_t* labels, const int32_t* predicted, const float* scores, uint32_t each,
                        mk_score_kind kind) {
  return {labels, predicted, scores, each, kind, kRows.data(), nullptr};
}

// As in scikit-learn's decision_function, values are votes plus a confidence that only breaks ties.
TEST(Validated, PairsVoteForClasses) {
  const auto values = class_values(MK_SCORES_ONE_VS_ONE, std::vector<float>{1, -2, 3}, 3);  // 0 > 1, 2 > 0, 1 > 2
  EXPECT_DOUBLE_EQ(values[0], 1 - 1.0 / 6);
  EXPECT_DOUBLE_EQ(values[1], 1 + 2.0 / 9);
  EXPECT_DOUBLE_EQ(values[2], 1 - 1.0 / 6);
}

TEST(Validated, MeasuresFollowTheRowsOfTheModel) {
  const std::vector<int32_t> predicted = {0, 1, 1};
  const std::vector<float> scores = {2, 0, 0, 0, 2, 0, 0, 1, 0.5F};
  const mk_validated rows = classified(kTruth.data(), predicted.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST);
  const auto values = measured(rows, 3, three_rows(), 3, every_measure());
  ASSERT_GE(values.size(), 6U);
  EXPECT_NEAR(values[0], 1.0 / 3, 1e-15);
  EXPECT_NEAR(values[4], 1, 1e-15);    // the AUC
  EXPECT_TRUE(std::isnan(values[5]));  // decision values have no log loss
}

TEST(Validated, RefusesRowsThatContradictThemselves) {
  const auto refuse = [](const mk_validated& rows) { EXPECT_THROW(check(rows, 3, three_rows(), 3), Error); };
  const std::vector<int32_t> wrong = {0, 1, 3};
  const std::vector<float> scores(9);
  refuse(classified(wrong.data(), kTruth.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST));
  refuse(classified(kTruth.data(), wrong.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST));
  refuse(classified(kTruth.data(), kTruth.data(), nullptr, 3, MK_SCORES_ONE_VS_REST));
  refuse(classified(kTruth.data(), kTruth.data(), scores.data(), 2, MK_SCORES_ONE_VS_REST));
  refuse(classified(nullptr, kTruth.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST));
  mk_validated elsewhere = classified(kTruth.data(), kTruth.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST);
  const std::vector<int64_t> beyond = {0, 1, 3};
  elsewhere.rows = beyond.data();
  refuse(elsewhere);
  elsewhere.rows = nullptr;
  refuse(elsewhere);
  elsewhere.rows = kRows.data();
  EXPECT_THROW(check(elsewhere, 3, three_rows(), 0), Error) << "a regression without numbers";
}

TEST(Validated, WithoutScoresTheClassesStillCount) {
  const mk_validated rows = classified(kTruth.data(), kTruth.data(), nullptr, 0, MK_SCORES_UNKNOWN);
  const std::array wanted = {*data::find_measure("f1")};
  EXPECT_EQ(measured(rows, 3, three_rows(), 3, wanted), std::vector<double>{1});
}

TEST(Validated, NumbersAreMeasuredByTheTargetsOfTheirRows) {
  const std::vector<int64_t> order = {2, 0, 1};
  const std::vector<float> numbers = {3, 1, 2};
  mk_validated rows{};
  rows.rows = order.data();
  rows.numbers = numbers.data();
  const std::array wanted = {*data::find_measure("mae"), *data::find_measure("rmse")};
  const auto values = measured(rows, 3, three_rows(), 0, wanted);
  EXPECT_DOUBLE_EQ(values[0], 1.0 / 3);
  EXPECT_DOUBLE_EQ(values[1], std::sqrt(1.0 / 3));
}

}  // namespace
}  // namespace mokume::node
