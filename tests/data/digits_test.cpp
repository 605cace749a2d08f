#include "data/digits.hpp"
#include "base/files.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

std::string bytes_of(const RawTable& part) {
  std::string bytes;
  for (const float v : part.table.x) bytes += static_cast<char>(static_cast<unsigned char>(v));
  for (const double v : part.labels.values) bytes += static_cast<char>(v);
  return bytes;
}

TEST(Digits, AreTheSameBytesEverywhere) {
  const RawTable train = draw_digits(DigitSet::train, 0);
  const RawTable test = draw_digits(DigitSet::test, 0);
  ASSERT_EQ(train.table.x.size(), 2000U * 784);
  ASSERT_EQ(test.table.x.size(), 1000U * 784);
  EXPECT_EQ(base::sha256(bytes_of(train)), "18599deacb1944008950a9aaed94eef98c563d2c964dbba4f9e59fa2aaf3a531");
  EXPECT_EQ(base::sha256(bytes_of(test)), "0ddff08d039a44e2be686bbb8b560caca1860bf76fd2b27e397ec3de53299bda");
}

TEST(Digits, AreWholeGreyValuesOfTenClasses) {
  const RawTable train = draw_digits(DigitSet::train, 0);
  for (const float v : train.table.x) ASSERT_TRUE(v >= 0 && v <= 255 && v == static_cast<float>(static_cast<int>(v)));
  std::vector<int> counts(10);
  for (const double v : train.labels.values) ++counts.at(static_cast<size_t>(v));
  for (const int count : counts) EXPECT_NEAR(count, 200, 45);
}

TEST(Digits, TheLimitKeepsTheFirstImages) {
  const RawTable all = draw_digits(DigitSet::train, 0);
  const RawTable few = draw_digits(DigitSet::train, 30);
  EXPECT_EQ(few.table.rows, 30);
  EXPECT_TRUE(std::equal(few.table.x.begin(), few.table.x.end(), all.table.x.begin()));
  EXPECT_EQ(few.table.x.size(), 30U * 784);
  EXPECT_EQ(draw_digits(DigitSet::train, 1 << 20).table.rows, 2000);
}

}  // namespace
}  // namespace mokume::data
