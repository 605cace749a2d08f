#include <map>
#include <numeric>
#include <set>

#include "data/folds.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using Ints = std::vector<int32_t>;

Table rows(int64_t n, const Ints& labels = {}) {
  Table table;
  table.rows = n;
  table.labels = labels;
  return table;
}

Ints sizes(const Ints& folds, uint32_t count) {
  Ints result(count);
  for (const int32_t f : folds) ++result.at(static_cast<size_t>(f));
  return result;
}

TEST(Folds, ContiguousBoundsAreRounded) {
  EXPECT_EQ(assign_folds(rows(7), 3, false, false, 1), (Ints{0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(sizes(assign_folds(rows(60000), 5, false, false, 1), 5), (Ints{12000, 12000, 12000, 12000, 12000}));
  // round(linspace(0, 10, 5)) in NumPy is 0 2 5 8 10, and round(linspace(0, 5, 3)) is 0 2 5: halves go to even.
  EXPECT_EQ(sizes(assign_folds(rows(10), 4, false, false, 1), 4), (Ints{2, 3, 3, 2}));
  EXPECT_EQ(assign_folds(rows(5), 2, false, false, 1), (Ints{0, 0, 1, 1, 1}));
  EXPECT_EQ(assign_folds(rows(3), 3, false, false, 1), (Ints{0, 1, 2}));
}

TEST(Folds, AShuffleIsAFunctionOfTheSeed) {
  const Ints a = assign_folds(rows(1000), 5, true, false, 42);
  EXPECT_EQ(a, assign_folds(rows(1000), 5, true, false, 42));
  EXPECT_NE(a, assign_folds(rows(1000), 5, true, false, 43));
  EXPECT_NE(a, assign_folds(rows(1000), 5, false, false, 42));
  EXPECT_EQ(sizes(a, 5), (Ints{200, 200, 200, 200, 200}));
  EXPECT_EQ(assign_folds(rows(8), 2, true, false, 7), (Ints{0, 0, 1, 0, 1, 1, 0, 1}));
}

TEST(Folds, StratifiedKeepsSharesAndSizes) {
  Ints labels;
  for (int i = 0; i < 103; ++i) labels.push_back(i < 50 ? 0 : i < 91 ? 1 : i < 100 ? 2 : 4);  // class 3 is empty
  for (const bool shuffle : {false, true}) {
    const Ints folds = assign_folds(rows(103, labels), 4, shuffle, true, 9);
    for (const int32_t size : sizes(folds, 4)) EXPECT_TRUE(size == 25 || size == 26) << size;
    for (const int32_t c : {0, 1, 2, 4}) {
      Ints count(4);
      for (size_t i = 0; i < folds.size(); ++i)
        if (labels[i] == c) ++count[static_cast<size_t>(folds[i])];
      const auto [low, high] = std::minmax_element(count.begin(), count.end());
      EXPECT_LE(*high - *low, 1) << "class " << c;
    }
  }
  EXPECT_EQ(assign_folds(rows(6, {0, 1, 0, 1, 0, 1}), 3, false, true, 0), (Ints{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(assign_folds(rows(6, {0, 0, 0, 0, 1, 1}), 3, false, true, 0), (Ints{0, 0, 1, 2, 1, 2}));
}

TEST(Share, IsDrawnWithTheSeed) {
  const Ints a = assign_share(rows(1000), 0.15, false, 42);
  EXPECT_EQ(std::count(a.begin(), a.end(), 0), 150);
  EXPECT_EQ(std::count(a.begin(), a.end(), -1), 850);
  EXPECT_EQ(a, assign_share(rows(1000), 0.15, false, 42));
  EXPECT_NE(a, assign_share(rows(1000), 0.15, false, 43));
  const auto early = std::count(a.begin(), a.begin() + 500, 0);
  EXPECT_TRUE(early > 50 && early < 100) << early << " of 150 in the first half";
  EXPECT_EQ(assign_share(rows(6), 0.5, false, 1), (Ints{0, -1, 0, 0, -1, -1})) << "the same on every machine";
  const Ints rounded = assign_share(rows(10), 0.25, false, 1);
  EXPECT_EQ(std::count(rounded.begin(), rounded.end(), 0), 3) << "a half goes up";
}

TEST(Share, StratifiedTakesFromEachClassAndKeepsTheSum) {
  Ints labels;
  for (int i = 0; i < 103; ++i) labels.push_back(i < 50 ? 0 : i < 91 ? 1 : i < 100 ? 2 : 4);  // class 3 is empty
  const Ints folds = assign_share(rows(103, labels), 0.3, true, 9);
  Ints count(5);
  for (size_t i = 0; i < folds.size(); ++i)
    if (folds[i] == 0) ++count[static_cast<size_t>(labels[i])];
  // The shares are 15.0, 12.3, 2.7 and 0.9 rows, 31 in total, so the two largest remainders round up.
  EXPECT_EQ(count, (Ints{15, 12, 3, 0, 1}));
}

TEST(Share, RefusesASplitThatLeavesOneSideEmpty) {
  for (const double share : {0.04, 0.96})
    expect_error(MK_INVALID_ARGUMENT, {"validation.share", "10 training rows"},
                 [&] { assign_share(rows(10), share, false, 0); });
}

TEST(Folds, RefusesDataThatCannotBeSplit) {
  for (const uint32_t folds : {0U, 1U, 11U, UINT32_MAX})
    expect_error(MK_INVALID_ARGUMENT, {"validation.folds", std::to_string(folds), "10"},
                 [&] { assign_folds(rows(10), folds, false, false, 0); });
}

TEST(Folds, NumbersHaveNoClassesToStratify) {
  EXPECT_EQ(assign_folds(rows(10), 2, true, true, 7), assign_folds(rows(10), 2, true, false, 7));
  EXPECT_EQ(assign_share(rows(10), 0.5, true, 7), assign_share(rows(10), 0.5, false, 7));
}

Table grouped_rows(const std::vector<uint32_t>& groups, const Ints& labels = {}) {
  Table table = rows(static_cast<int64_t>(groups.size()), labels);
  table.groups = groups;
  return table;
}

TEST(Folds, AGroupIsInOneFold) {
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < 200; ++i) groups.push_back(i * 7 % 23);
  for (const bool shuffle : {false, true}) {
    const Ints folds = assign_group_folds(grouped_rows(groups), 4, shuffle, false, 5);
    std::map<uint32_t, std::set<int32_t>> of_group;
    for (size_t i = 0; i < groups.size(); ++i) of_group[groups[i]].insert(folds[i]);
    for (const auto& [group, its_folds] : of_group) EXPECT_EQ(its_folds.size(), 1U) << group;
    for (const int32_t size : sizes(folds, 4)) EXPECT_NEAR(size, 50, 9);
  }
  EXPECT_NE(assign_group_folds(grouped_rows(groups), 4, true, false, 5),
            assign_group_folds(grouped_rows(groups), 4, true, false, 6));
}

TEST(Folds, TheLargestGroupsAreDealtFirst) {
  EXPECT_EQ(assign_group_folds(grouped_rows({0, 1, 1, 1, 2, 2}), 2, false, false, 1), (Ints{1, 0, 0, 0, 1, 1}));
}

TEST(Folds, GroupsSpreadTheClasses) {
  // Two of six groups of equal size are of class 1. By the number of rows alone, both would be in fold 0.
  const std::vector<uint32_t> groups = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  const Ints labels = {1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
  const Ints folds = assign_group_folds(grouped_rows(groups, labels), 2, false, true, 1);
  EXPECT_NE(folds[0], folds[4]);
  EXPECT_EQ(sizes(folds, 2), (Ints{6, 6}));
}

TEST(Folds, AShareOfGroupsComesCloseToTheShareOfRows) {
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < 100; ++i) groups.push_back(i / 5);
  const Ints folds = assign_group_share(grouped_rows(groups), 0.2, 3);
  EXPECT_EQ(std::count(folds.begin(), folds.end(), 0), 20);
  for (size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(folds[i], folds[i / 5 * 5]);
}

TEST(Folds, TooFewGroupsAreRefused) {
  EXPECT_THROW(assign_group_folds(grouped_rows({0, 0, 1}), 3, false, false, 1), Error);
  EXPECT_THROW(assign_group_share(grouped_rows({0, 0, 0}), 0.3, 1), Error);
}

TEST(Folds, GroupsWithoutRowsDoNotCount) {
  EXPECT_THROW(assign_group_folds(grouped_rows({0, 0, 3}), 3, false, false, 1), Error) << "a fold would be empty";
  EXPECT_THROW(assign_group_share(grouped_rows({2, 2, 2}), 0.6, 1), Error) << "no row would be left for training";
}

TEST(Folds, TimeIsCutIntoEqualBlocks) {
  EXPECT_EQ(time_blocks(10, 4), (std::vector<int64_t>{2, 4, 6, 8, 10}));
  EXPECT_EQ(time_blocks(3, 2), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_THROW(time_blocks(3, 3), Error);
  EXPECT_EQ(assign_last_share(rows(5), 0.4), (Ints{-1, -1, -1, 0, 0}));
}

}  // namespace
}  // namespace mokume::data
