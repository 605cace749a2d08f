// Tests which rows the fits of rungs train on, in the order of time and in folds from a file.
#include "node/splits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "config/plan.hpp"

namespace mokume::node {
namespace {

using Rows = std::vector<uint32_t>;

Rows range(uint32_t first, uint32_t end) {
  Rows rows(end - first);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

data::Dataset numbers(int64_t rows) {
  data::Dataset data;
  data.train.rows = rows;
  data.train.targets.assign(static_cast<size_t>(rows), 0);
  return data;
}

config::Config rungs_of(uint32_t folds, uint32_t rungs, bool whole) {
  config::Config config;
  config.folds = folds;
  config.rungs = rungs;
  config.factor = 2;
  config.whole = whole;
  config.shuffle = config.stratified = false;
  return config;
}

struct Made {
  Made(const config::Config& made_of, const data::Dataset& data)
      : config(made_of), plan(config::make_plan(config, "", data.train.rows)), splits(config, plan, data) {}

  config::Config config;
  search::Plan plan;
  Splits splits;
};

TEST(SplitsInTime, ASmallerRungTakesTheLatestRowsBeforeTheSameBlock) {
  config::Config config = rungs_of(3, 2, true);
  config.ordered = true;
  const Made made(config, numbers(40));  // blocks of ten rows
  EXPECT_EQ(made.plan.n_refits(), 1U);
  EXPECT_EQ(made.splits.training_rows({0, 0}), range(5, 10));
  EXPECT_EQ(made.splits.training_rows({0, 2}), range(15, 30));
  EXPECT_EQ(made.splits.training_rows({0, 3}), range(0, 10));
  EXPECT_EQ(made.splits.training_rows({0, 5}), range(0, 30));
  for (const uint32_t fold : {0U, 1U, 2U}) {
    EXPECT_EQ(made.splits.validation_rows({0, fold}), range(10 * (fold + 1), 10 * (fold + 2)));
    EXPECT_EQ(made.splits.validation_rows({0, fold + 3}), made.splits.validation_rows({0, fold}));
  }
  EXPECT_EQ(made.splits.rows_in_rung(0), 10);
  EXPECT_EQ(made.splits.rows_in_rung(1), 20);
  EXPECT_EQ(made.splits.rows_of_whole(), 20);
  EXPECT_EQ(made.splits.samples()[made.splits.sample_of_refit(0)].row.size(), 40U);
}

TEST(SplitsInTime, AShareTakesTheLatestRowsToo) {
  config::Config config = rungs_of(1, 2, true);
  config.ordered = true;
  config.share = 0.25;
  const Made made(config, numbers(40));
  EXPECT_EQ(made.splits.training_rows({0, 0}), range(15, 30));
  EXPECT_EQ(made.splits.training_rows({0, 1}), range(0, 30));
  EXPECT_EQ(made.splits.validation_rows({0, 0}), range(30, 40));
}

TEST(SplitsInTime, AnOddNumberOfRowsRoundsUp) {
  config::Config config = rungs_of(2, 2, false);
  config.ordered = true;
  const Made made(config, numbers(15));  // blocks of five rows
  EXPECT_EQ(made.splits.training_rows({0, 0}), range(3, 5)) << "5 / 4 = 1.25";
  EXPECT_EQ(made.splits.training_rows({0, 2}), range(2, 5));
}

TEST(SplitsInTime, TooFewRowsAreRefused) {
  config::Config config = rungs_of(3, 5, true);
  config.ordered = true;
  EXPECT_THROW(Made(config, numbers(40)), TooFewRows) << "one of sixteen of ten rows is too few";
}

TEST(SplitsOfAFile, ASmallerRungTakesRowsOfEachFold) {
  config::Config config = rungs_of(2, 2, false);
  config.data.folds_file = "folds";
  data::Dataset data = numbers(40);
  for (int32_t row = 0; row < 40; ++row) data.train.given_folds.push_back(row % 4 == 3 ? -1 : row % 2);
  const Made made(config, data);
  EXPECT_EQ(made.plan.n_refits(), 0U);
  EXPECT_EQ(made.plan.n_slots(), made.plan.n_fits());
  // Twenty rows have fold 0, ten have fold 1, and ten are trained on in every fold.
  EXPECT_EQ(made.splits.validation_rows({0, 0}).size(), 5U);
  EXPECT_EQ(made.splits.validation_rows({0, 1}).size(), 3U);
  EXPECT_EQ(made.splits.training_rows({0, 0}).size(), 6U);
  EXPECT_EQ(made.splits.rows_in_rung(1), 20 - (10 + 5) / 2);
  EXPECT_EQ(made.splits.rows_of_whole(), 40 - (20 + 10) / 2);
  for (const uint32_t row : made.splits.validation_rows({0, 0})) EXPECT_EQ(data.train.given_folds[row], 0);
  const Rows small = made.splits.training_rows({0, 0}), large = made.splits.training_rows({0, 2});
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
}

TEST(SplitsWithoutTheWhole, OneRungIsASmallerPart) {
  const Made made(rungs_of(2, 1, false), numbers(40));
  EXPECT_EQ(made.plan.rungs(), 1U);
  EXPECT_EQ(made.splits.training_rows({0, 0}).size(), 10U);
  EXPECT_EQ(made.splits.rows_in_rung(0), 10);
  EXPECT_EQ(made.splits.rows_of_whole(), 20);
  EXPECT_FALSE(made.splits.fold_at({1, 0})) << "no fit has all rows";
}

}  // namespace
}  // namespace mokume::node
