#include "data/scale.hpp"

#include <algorithm>
#include <cmath>

#include "data/fold_inputs.hpp"
#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

Dataset small() {
  Dataset data;
  data.name = "small";
  data.train = {3, 3, {1, 0.1F, 10, 2, 0.1F, 10, 6, 0.1F, 40}, {0, 1, 0}, {}};
  data.test = {1, 3, {3, 7, -20}, {1}, {}};
  data.class_names = {"a", "b"};
  return data;
}

TEST(Scale, FixedRoundsOnceFromDouble) {
  Dataset data = small();
  standardize({Standardize::Kind::fixed, 127.5, 73.61}, data);
  EXPECT_EQ(data.mean, std::vector<double>{127.5});
  EXPECT_EQ(data.scale, std::vector<double>{73.61});
  EXPECT_EQ(data.train.x[0], static_cast<float>((1 - 127.5) / 73.61));
  EXPECT_EQ(data.train.x[8], static_cast<float>((40 - 127.5) / 73.61));
  EXPECT_EQ(data.test.x[2], static_cast<float>((-20 - 127.5) / 73.61));
}

TEST(Scale, FeaturesAreFittedOnTheTrainingRows) {
  Dataset data = small();
  standardize({Standardize::Kind::features, 0, 1}, data);
  EXPECT_EQ(data.mean, (std::vector<double>{3, double{0.1F}, 20}));
  EXPECT_EQ(data.scale, (std::vector<double>{std::sqrt(14.0 / 3), 1, std::sqrt(200.0)}));
  EXPECT_EQ(data.train.x[1], 0) << "a constant feature";
  EXPECT_EQ(data.train.x[6], static_cast<float>(3 / std::sqrt(14.0 / 3)));
  EXPECT_EQ(data.test.x,
            (std::vector<float>{0, static_cast<float>(7 - double{0.1F}), static_cast<float>(-40 / std::sqrt(200.0))}));
}

TEST(Scale, AConstantThatDoesNotSumExactlyIsStillConstant) {
  Dataset data;
  data.train = {1001, 1, std::vector<float>(1001, 1e30F / 3), std::vector<int32_t>(1001, 0), {}};
  standardize({Standardize::Kind::features, 0, 1}, data);
  EXPECT_EQ(data.scale[0], 1);
  for (const float v : data.train.x) ASSERT_EQ(v, 0);
}

TEST(Scale, NoneChangesNothing) {
  Dataset data = small();
  standardize({}, data);
  EXPECT_EQ(data.train.x, small().train.x);
  EXPECT_TRUE(data.mean.empty() && data.scale.empty());
}

TEST(Scale, RefusesValuesOutsideTheRangeOfFloat) {
  Dataset data = small();
  expect_error(MK_BAD_DATA, {"'small', row 1, feature 1", "data.standardize"}, [&] {
    standardize({Standardize::Kind::fixed, 0, 1e-300}, data);
  });
}

TEST(Hash, ChangesWithEveryPartOfTheContent) {
  const std::string base = content_hash(small());
  EXPECT_EQ(base, "4c166df2328c96df7dcc603a0368261a49e851de8ab08abacd5c7b07e0e55681");
  const std::function<void(Dataset&)> changes[] = {
      [](Dataset& d) { d.train.x[0] = 2; },
      [](Dataset& d) { d.train.labels[0] = 1; },
      [](Dataset& d) { d.test.x[0] = 2; },
      [](Dataset& d) { d.test.labels[0] = 0; },
      [](Dataset& d) { d.class_names[1] = "c"; },
      [](Dataset& d) {
        d.class_names = {"ab", ""};
      },
      [](Dataset& d) {
        d.train.targets = {1, 2, 3};
      },
      [](Dataset& d) { d.train.rows = 9, d.train.features = 1; },
  };
  for (const auto& change : changes) {
    Dataset data = small();
    change(data);
    EXPECT_NE(content_hash(data), base);
  }
  Dataset data = small();
  data.name = "other";
  EXPECT_EQ(content_hash(data), base) << "the name is not content";
}

class ExactValues : public DataTest {
 protected:
  // Writes a column of consecutive seconds since 1970, which float32 rounds to multiples of 128.
  std::string seconds() const {
    std::string text = "seconds,y\n";
    for (int row = 0; row < 8; ++row) text += std::to_string(1700000000 + row) + "," + std::to_string(row % 2) + "\n";
    return write("seconds.csv", text);
  }
};

TEST_F(ExactValues, AreScaledBeforeTheyAreRounded) {
  DataSpec s = spec("csv", seconds());
  s.standardize.kind = Standardize::Kind::features;
  s.test = seconds();
  const Dataset data = load(s);
  const double sd = std::sqrt(5.25);
  for (size_t row = 0; row < 8; ++row) {
    EXPECT_FLOAT_EQ(data.train.x[row], static_cast<float>((static_cast<double>(row) - 3.5) / sd));
    EXPECT_EQ(data.test.x[row], data.train.x[row]);
  }
  EXPECT_TRUE(data.train.exact.empty());
  const FoldInputs fold = fold_inputs(data, s.standardize, {0, 1, 2, 3});
  EXPECT_FLOAT_EQ(fold.table.x[7], static_cast<float>(5.5 / std::sqrt(1.25)));
  const Dataset rows = load_for_prediction(s, {data.class_names, data.mean, data.scale, 1, data.columns});
  EXPECT_EQ(rows.train.x, data.train.x);
  EXPECT_EQ(data.notes.size(), 1U) << "the task";
  DataSpec other = s;
  other.path = other.test = write("other.csv", "seconds,y\n1700000000,0\n1700000001,1\n");
  DataSpec third = other;
  third.path = third.test = write("third.csv", "seconds,y\n1700000000,0\n1700000002,1\n");
  EXPECT_NE(load(other).sha256, load(third).sha256);
}

TEST_F(ExactValues, AreScaledFromLibsvmToo) {
  DataSpec s = spec("libsvm", write("a", "1 1:1700000000\n2 1:1700000001\n"));
  s.standardize.kind = Standardize::Kind::features;
  EXPECT_EQ(load(s).train.x, (std::vector<float>{-1, 1}));
}

TEST_F(ExactValues, AreNamedWhereNothingScalesThem) {
  const DataSpec s = spec("csv", seconds());
  const std::vector<std::string> notes = load(s).notes;
  const auto names = [](const std::string& note) {
    return note.find("column 'seconds': float32 tells values near 1.7e+09 apart in steps of 128;") == 0;
  };
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), names));
  EXPECT_TRUE(load(spec("csv", write("b", "a,y\n1,0\n2,1\n"))).notes.size() == 1U);
}

}  // namespace
}  // namespace mokume::data
