#include "sdk/philox.hpp"

#include <gtest/gtest.h>

#include <set>

namespace mokume::sdk {
namespace {

// The paper's library publishes these answers of philox4x32-10 (Random123, kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, RunsAtCompileTime) {
  static_assert(philox({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
  static_assert(Random(1, Purpose::folds).bits(0) == Random(1, Purpose::folds).bits(0));
}

TEST(Random, IsAPureFunctionOfItsIndex) {
  const Random one(7, Purpose::digits, 3, 4), same(7, Purpose::digits, 3, 4);
  for (const uint32_t index : {1000U, 3U, 0U, 3U, 0xffffffffU}) {
    EXPECT_EQ(one.bits(index), same.bits(index));
    EXPECT_EQ(one.bits64(index), same.bits64(index));
  }
}

// These values date from the time when indices had 32 bits.
TEST(Random, KeepsItsValuesBelow32BitsAndHasDifferentOnesBeyond) {
  const Random random(7, Purpose::weights, 3, 4);
  EXPECT_EQ(random.bits64(0), 0x8c93b68e0c459a6eU);
  EXPECT_EQ(random.bits64(5), 0xf95f48c316ae7f90U);
  EXPECT_EQ(random.bits64(0xffffffff), 0xa85a6af570aa4b11U);
  EXPECT_EQ(random.bits(5), 0x84ecc23fU);
  EXPECT_EQ(random.bits(0xffffffff), 0x072ac83dU);
  std::set<uint64_t> seen;
  size_t drawn = 0;
  for (const Purpose purpose : {Purpose::weights, Purpose::batches})
    for (const uint64_t high : {0, 31, 32, 33, 34, 40, 55})
      for (uint64_t low = 0; low < 20; ++low, ++drawn) {
        const Random one(7, purpose, 3, 4);
        const uint64_t index = (high == 0 ? 0 : uint64_t{1} << high) + low;
        seen.insert(one.bits64(index));
        seen.insert((uint64_t{one.bits(2 * index)} << 32) | one.bits(2 * index + 1));
      }
  EXPECT_EQ(seen.size(), 2 * drawn);
}

// Streams that shared numbers would repeat values. By chance, 64-bit values do not repeat.
TEST(Random, StreamsDoNotOverlap) {
  std::set<uint64_t> seen;
  size_t drawn = 0;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32})
    for (const Purpose purpose : {Purpose::folds, Purpose::digits, Purpose::search, Purpose::bootstrap})
      for (const uint32_t id0 : {0U, 1U})
        for (const uint32_t id1 : {0U, 1U}) {
          const Random random(seed, purpose, id0, id1);
          for (uint32_t index = 0; index < 50; ++index, ++drawn) {
            seen.insert(random.bits64(index));
            // Two joined 32-bit draws must differ from the 64-bit draws.
            seen.insert((uint64_t{random.bits(2 * index)} << 32) | random.bits(2 * index + 1));
          }
        }
  EXPECT_EQ(seen.size(), 2 * drawn);
}

TEST(Random, UniformFillsItsRange) {
  const Random random(20240906, Purpose::search);
  double sum = 0, low = 1, high = 0;
  constexpr uint32_t kCount = 20000;
  for (uint32_t i = 0; i < kCount; ++i) {
    const double value = random.uniform(i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.01);  // five standard errors
  EXPECT_LT(low, 0.001);
  EXPECT_GT(high, 0.999);
}

TEST(Random, BelowReachesEveryValueEvenly) {
  const Random random(5, Purpose::bootstrap);
  constexpr uint32_t kBound = 7, kCount = 14000;
  uint32_t counts[kBound] = {};
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint64_t value = random.below(i, kBound);
    ASSERT_LT(value, kBound);
    ++counts[value];
  }
  for (const uint32_t count : counts) EXPECT_NEAR(count, kCount / kBound, 210);  // five standard deviations
  EXPECT_EQ(random.below(0, 1), 0U);
  EXPECT_LT(random.below(0, UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace mokume::sdk
