// Tests real data sets, if MOKUME_DATA names a folder that contains them.
#include <numeric>

#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

bool have(const std::string& file) {
  const char* const data = std::getenv("MOKUME_DATA");
  return data != nullptr && std::filesystem::exists(std::string(data) + "/" + file);
}

TEST(SharedData, MnistIsRead) {
  if (!have("mnist/train-images-idx3-ubyte.gz") && !have("mnist/train-images-idx3-ubyte"))
    GTEST_SKIP() << "MOKUME_DATA names no directory with mnist/: the real images are not checked";
  const Dataset data = load(spec("mnist", ""));
  EXPECT_EQ(data.train.rows, 60000);
  EXPECT_EQ(data.test.rows, 10000);
  EXPECT_EQ(data.train.features, 784);
  EXPECT_EQ(data.class_names.size(), 10U);
  EXPECT_EQ(std::vector<int32_t>(data.train.labels.begin(), data.train.labels.begin() + 5),
            (std::vector<int32_t>{5, 0, 4, 1, 9}));
  // The training images, scaled to [0, 1], have the well-known mean 0.1307.
  EXPECT_NEAR(std::accumulate(data.train.x.begin(), data.train.x.end(), 0.0) / 60000 / 784 / 255, 0.1307, 5e-5);
  DataSpec some = spec("mnist", "");
  some.limit = 5000;
  const Dataset few = load(some);
  EXPECT_EQ(few.train.rows, 5000);
  EXPECT_EQ(few.test.rows, 10000);
  EXPECT_TRUE(std::equal(few.train.x.begin(), few.train.x.end(), data.train.x.begin()));
}

TEST(SharedData, CaliforniaHousingIsRead) {
  if (!have("california-housing/housing.csv"))
    GTEST_SKIP()
        << "MOKUME_DATA names no directory with california-housing/housing.csv: a real CSV file is not checked";
  DataSpec housing = spec("csv", "california-housing");
  housing.target = "median_house_value";
  housing.categorical = {"ocean_proximity"};
  expect_error(MK_BAD_DATA, {"line 292", "'total_bedrooms'", "data.missing"}, [&] { load(housing); });
  housing.missing = Missing::mean;
  const Dataset filled = load(housing);
  EXPECT_EQ(filled.train.rows, 20640);
  EXPECT_EQ(filled.train.features, 13);
  EXPECT_EQ(filled.train.targets[0], 452600.0F);
  EXPECT_EQ(filled.columns.back().levels.size(), 5U);
  housing.missing = Missing::drop;
  EXPECT_EQ(load(housing).train.rows, 20640 - 207);
}

}  // namespace
}  // namespace mokume::data
