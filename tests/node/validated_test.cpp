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
  const mk_validated rows{kTruth.data(), predicted.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST};
  const auto values = measured(rows, 3, 3, every_measure());
  ASSERT_EQ(values.size(), 6U);
  EXPECT_NEAR(values[0], 1.0 / 3, 1e-15);
  EXPECT_NEAR(values[4], 1, 1e-15);    // the AUC
  EXPECT_TRUE(std::isnan(values[5]));  // decision values have no log loss
}

TEST(Validated, RefusesRowsThatContradictThemselves) {
  const auto refuse = [](const mk_validated& rows) { EXPECT_THROW(measured(rows, 3, 3, every_measure()), Error); };
  const std::vector<int32_t> wrong = {0, 1, 3};
  const std::vector<float> scores(9);
  refuse({wrong.data(), kTruth.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST});
  refuse({kTruth.data(), wrong.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST});
  refuse({kTruth.data(), kTruth.data(), nullptr, 3, MK_SCORES_ONE_VS_REST});
  refuse({kTruth.data(), kTruth.data(), scores.data(), 2, MK_SCORES_ONE_VS_REST});
  refuse({nullptr, kTruth.data(), scores.data(), 3, MK_SCORES_ONE_VS_REST});
}

TEST(Validated, WithoutScoresTheClassesStillCount) {
  const mk_validated rows{kTruth.data(), kTruth.data(), nullptr, 0, MK_SCORES_UNKNOWN};
  const std::array wanted = {*data::find_measure("f1")};
  EXPECT_EQ(measured(rows, 3, 3, wanted), std::vector<double>{1});
}

}  // namespace
}  // namespace mokume::node
