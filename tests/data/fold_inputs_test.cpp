#include "data/fold_inputs.hpp"

#include <cmath>

#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using Floats = std::vector<float>;

class FoldInputsTest : public DataTest {
 protected:
  // Loads rows with gaps in a column of numbers and in a column of words.
  Dataset load_table(Within within) const {
    DataSpec spec;
    spec.source = "csv";
    spec.path = write("t.csv", "a,kind,y\n1,x,0\n3,x,1\n,y,0\n100,y,1\n100,,0\n");
    spec.categorical = {"kind"};
    spec.missing = Missing::mean;
    spec.within = within;
    return load(spec);
  }
};

TEST_F(FoldInputsTest, GapsAreFilledByTheRowsOfTheFold) {
  const Dataset data = load_table(Within::fold);
  ASSERT_EQ(data.gaps.size(), 2U);
  EXPECT_EQ(data.train.x[6], 51) << "by all training rows";
  const FoldInputs of_first = fold_inputs(data, {}, {0, 1, 2});
  EXPECT_EQ(of_first.table.x, (Floats{1, 1, 0, 3, 1, 0, 2, 0, 1, 100, 0, 1, 100, 1, 0}));
  const FoldInputs of_last = fold_inputs(data, {}, {2, 3});
  EXPECT_EQ(of_last.table.x, (Floats{1, 1, 0, 3, 1, 0, 100, 0, 1, 100, 0, 1, 100, 0, 1}));
}

TEST_F(FoldInputsTest, AColumnThatTheFoldLacksKeepsTheFillerOfAllRows) {
  const Dataset data = load_table(Within::fold);
  EXPECT_EQ(fold_inputs(data, {}, {2}).table.x[6], 51);
}

TEST_F(FoldInputsTest, RowsThatRepeatCountAgain) {
  const Dataset data = load_table(Within::fold);
  EXPECT_EQ(fold_inputs(data, {}, {0, 0, 1, 2}).table.x[6], static_cast<float>(5.0 / 3));
}

TEST_F(FoldInputsTest, ScalingIsFittedOnTheRowsOfTheFoldAfterFilling) {
  const Dataset data = load_table(Within::fold);
  const FoldInputs made = fold_inputs(data, {Standardize::Kind::features, 0, 1}, {0, 1, 2});
  ASSERT_EQ(made.mean.size(), 3U);
  EXPECT_EQ(made.mean[0], 2);
  EXPECT_EQ(made.scale[0], std::sqrt(2.0 / 3));
  EXPECT_EQ(made.table.x[9], static_cast<float>(98 / std::sqrt(2.0 / 3))) << "a row that is validated";
}

TEST_F(FoldInputsTest, RawInputsAreKeptOnlyWhereFoldsFitTheirOwn) {
  EXPECT_TRUE(load_table(Within::training).unscaled.x.empty());
  DataSpec constant;
  constant.source = "digits";
  constant.limit = 10;
  constant.standardize = {Standardize::Kind::fixed, 1, 2};
  EXPECT_TRUE(load(constant).unscaled.x.empty());
}

}  // namespace
}  // namespace mokume::data
