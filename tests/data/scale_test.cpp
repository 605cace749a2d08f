#include "data/scale.hpp"

#include <cmath>

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

}  // namespace
}  // namespace mokume::data
