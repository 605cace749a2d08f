// Tests the names of the columns that `mokume predict` adds.
#include "run/score_names.hpp"

#include <gtest/gtest.h>

namespace mokume::run {
namespace {

using Names = std::vector<std::string>;

TEST(ScoreNames, SayWhatTheNumbersMean) {
  const Names classes{"ant", "bee", "cat"};
  EXPECT_EQ(score_names(MK_SCORES_LOG_PROBABILITIES, classes),
            (Names{"probability_ant", "probability_bee", "probability_cat"}));
  EXPECT_EQ(score_names(MK_SCORES_ONE_VS_REST, classes),
            (Names{"decision_ant_vs_rest", "decision_bee_vs_rest", "decision_cat_vs_rest"}));
  EXPECT_EQ(score_names(MK_SCORES_ONE_VS_ONE, classes),
            (Names{"decision_ant_vs_bee", "decision_ant_vs_cat", "decision_bee_vs_cat"}));
  EXPECT_EQ(score_names(MK_SCORES_UNKNOWN, classes), Names{});
  EXPECT_EQ(vote_share_names(classes), (Names{"vote_share_ant", "vote_share_bee", "vote_share_cat"}));
}

TEST(ScoreNames, OfPairsEndWithNumbersWhereTwoWouldBeTheSame) {
  EXPECT_EQ(score_names(MK_SCORES_ONE_VS_ONE, {"a", "a_vs_b", "b_vs_c", "c"}),
            (Names{"decision_a_vs_a_vs_b_0_1", "decision_a_vs_b_vs_c_0_2", "decision_a_vs_c_0_3",
                   "decision_a_vs_b_vs_b_vs_c_1_2", "decision_a_vs_b_vs_c_1_3", "decision_b_vs_c_vs_c_2_3"}));
}

}  // namespace
}  // namespace mokume::run
