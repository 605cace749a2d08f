#include "data/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mokume::data {
namespace {

std::vector<int32_t> dealt(size_t rows, int32_t folds) {
  std::vector<int32_t> fold_of;
  for (size_t r = 0; r < rows; ++r) fold_of.push_back(static_cast<int32_t>(r) % folds);
  return fold_of;
}

TEST(Samples, TheWholeSampleHasEveryRowOnce) {
  const Sample sample = whole_sample({1, 0, -1});
  EXPECT_EQ(sample.row, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(sample.fold_of, (std::vector<int32_t>{1, 0, -1}));
}

TEST(Samples, SharesContainEachOtherAndEveryFoldAndClass) {
  const std::vector<int32_t> fold_of = dealt(1003, 5);
  std::vector<int32_t> labels;
  for (size_t r = 0; r < fold_of.size(); ++r) labels.push_back(r < 7 ? 2 : static_cast<int32_t>(r / 500));
  const Sample quarter = draw_part(fold_of, labels, 4, 7), tenth = draw_part(fold_of, labels, 10, 7);
  EXPECT_NEAR(static_cast<double>(quarter.row.size()), 1003 / 4.0, 15);
  EXPECT_TRUE(std::is_sorted(quarter.row.begin(), quarter.row.end()));
  EXPECT_TRUE(std::includes(quarter.row.begin(), quarter.row.end(), tenth.row.begin(), tenth.row.end()));
  std::set<std::pair<int32_t, int32_t>> groups, drawn;
  for (size_t r = 0; r < fold_of.size(); ++r) groups.emplace(fold_of[r], labels[r]);
  for (size_t i = 0; i < tenth.row.size(); ++i) {
    EXPECT_EQ(tenth.fold_of[i], fold_of[tenth.row[i]]);
    drawn.emplace(tenth.fold_of[i], labels[tenth.row[i]]);
  }
  EXPECT_EQ(drawn, groups);
  EXPECT_EQ(draw_part(fold_of, labels, 10, 7).row, tenth.row);
  EXPECT_NE(draw_part(fold_of, labels, 10, 8).row, tenth.row);
  EXPECT_EQ(draw_part(fold_of, {}, 1, 7).row, whole_sample(fold_of).row);
}

TEST(Samples, AreDrawnWithinFolds) {
  const std::vector<int32_t> fold_of = dealt(1003, 5);
  const Sample sample = draw_sample(fold_of, 7, 0);
  ASSERT_EQ(sample.row.size(), fold_of.size());
  for (size_t i = 0; i < sample.row.size(); ++i) EXPECT_EQ(fold_of[sample.row[i]], sample.fold_of[i]);
  for (int32_t fold = 0; fold < 5; ++fold)
    EXPECT_EQ(std::count(sample.fold_of.begin(), sample.fold_of.end(), fold),
              std::count(fold_of.begin(), fold_of.end(), fold));
}

// A bootstrap of many rows contains a share of 1 - 1/e of them, which is 63.2 %.
TEST(Samples, LeaveOutAThirdOfTheRows) {
  const Sample sample = draw_sample(dealt(20000, 5), 7, 0);
  const std::set<uint32_t> different(sample.row.begin(), sample.row.end());
  EXPECT_NEAR(static_cast<double>(different.size()) / 20000, 0.632, 0.01);
}

TEST(Samples, DifferBetweenBootstraps) {
  const std::vector<int32_t> fold_of = dealt(100, 2);
  EXPECT_EQ(draw_sample(fold_of, 7, 3).row, draw_sample(fold_of, 7, 3).row);
  EXPECT_NE(draw_sample(fold_of, 7, 3).row, draw_sample(fold_of, 7, 4).row);
  EXPECT_NE(draw_sample(fold_of, 7, 3).row, draw_sample(fold_of, 8, 3).row);
}

TEST(Samples, KeepRowsThatNoFoldValidatesInTraining) {
  const Sample sample = draw_sample({-1, 0, -1, 0, -1}, 1, 0);
  EXPECT_EQ(sample.fold_of, (std::vector<int32_t>{-1, -1, -1, 0, 0}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(sample.row[i] % 2, 0U);
  EXPECT_EQ(draw_sample({-1, -1, -1}, 1, 0).row.size(), 3U);
  EXPECT_TRUE(draw_sample({}, 1, 0).row.empty());
}

}  // namespace
}  // namespace mokume::data
