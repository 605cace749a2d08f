// Compares streams with the draws of NumPy (bench/peers/numpy_vectors.py).
#include "search/numpy_random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "numpy_vectors.hpp"
#include "sdk/error.hpp"

namespace mokume::search::numpy {
namespace {

void expect_refused(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    FAIL() << "taken, though: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MK_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

Generator generator() { return Generator(SeedSequence(2019)); }

TEST(SeedSequence, MixesSeedsOfAnyLength) {
  for (const vectors::Seed& seed : vectors::kSeeds) {
    SCOPED_TRACE(seed.digits);
    const SeedSequence sequence(std::string_view(seed.digits));
    EXPECT_EQ(sequence.generate_state(seed.state.size()), seed.state);
    EXPECT_EQ(sequence.generate_state64(seed.state64.size()), seed.state64);
  }
}

TEST(SeedSequence, TakesNumbersByTheirDigits) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 32, UINT64_MAX}) {
    const std::string digits = std::to_string(number);
    EXPECT_EQ(SeedSequence(number).generate_state(4), SeedSequence(digits).generate_state(4)) << digits;
    EXPECT_EQ(SeedSequence("000" + digits).generate_state(4), SeedSequence(digits).generate_state(4)) << digits;
  }
}

TEST(SeedSequence, RefusesTextThatIsNotAWholeNumber) {
  expect_refused([] { SeedSequence(""); }, "empty");
  expect_refused([] { SeedSequence("12a4"); }, "character 3 of the seed");
  for (const char* text : {"-1", "+1", " 1", "1 ", "0x1", "1e3", "1.0", "\xC2\xB2"})
    expect_refused([&] { SeedSequence{std::string_view(text)}; }, "decimal");
}

TEST(SeedSequence, SpawnsChildrenOfChildren) {
  for (const vectors::Child& child : vectors::kChildren) {
    SeedSequence sequence(std::string_view(child.digits));
    for (const uint32_t i : child.path) sequence = sequence.spawn(i + 1).back();
    EXPECT_EQ(sequence.generate_state(4), child.state) << child.digits;
  }
}

TEST(SeedSequence, SpawnContinuesWhereItEnded) {
  SeedSequence at_once(7);
  SeedSequence in_turn(7);
  const auto children = at_once.spawn(3);
  ASSERT_EQ(children.size(), 3U);
  EXPECT_TRUE(in_turn.spawn(0).empty());
  EXPECT_EQ(in_turn.spawn(1)[0].generate_state(4), children[0].generate_state(4));
  EXPECT_EQ(in_turn.spawn(2)[1].generate_state(4), children[2].generate_state(4));
  EXPECT_EQ(at_once.generate_state(4), SeedSequence(7).generate_state(4));
  expect_refused([&] { at_once.spawn(UINT32_MAX); }, "children");
}

TEST(Pcg64, MatchesNumPy) {
  Pcg64 bits(SeedSequence(2019));
  for (const uint64_t raw : vectors::kRaw) EXPECT_EQ(bits.next64(), raw);
}

TEST(Pcg64, KeepsTheUnusedHalfOfAWord) {
  Pcg64 bits(SeedSequence(2019));
  EXPECT_EQ(bits.next32(), static_cast<uint32_t>(vectors::kRaw[0]));
  EXPECT_EQ(bits.next64(), vectors::kRaw[1]);
  EXPECT_EQ(bits.next32(), vectors::kRaw[0] >> 32);
  EXPECT_EQ(bits.next32(), static_cast<uint32_t>(vectors::kRaw[2]));
}

// Draws seven numbers from each range, so that half a word is left for the next range.
TEST(Generator, DrawsIntegersOfEveryRange) {
  Generator one_by_one = generator();
  Generator at_once = generator();
  for (const vectors::Range& range : vectors::kRanges) {
    SCOPED_TRACE(std::to_string(range.low) + " to " + std::to_string(range.high));
    for (const int64_t drawn : range.drawn) EXPECT_EQ(one_by_one.integers(range.low, range.high), drawn);
    EXPECT_EQ(at_once.integers(range.low, range.high, range.drawn.size()), range.drawn);
  }
}

TEST(Generator, RefusesEmptyRanges) {
  expect_refused([] { generator().integers(5, 5); }, "from 5 to below 5");
  expect_refused([] { generator().integers(1, -1, 3); }, "from 1 to below -1");
  expect_refused([] { generator().choice(0); }, "from 0 to below 0");
  expect_refused([] { generator().choice(std::vector<double>{}, 1); }, "from 0 to below 0");
}

TEST(Generator, RealsKeepTheUnusedHalfOfAWord) {
  Generator random = generator();
  for (const vectors::HalfAndReal& drawn : vectors::kHalvesAndReals) {
    EXPECT_EQ(random.integers(0, 10), drawn.half);
    EXPECT_EQ(random.random(), drawn.real);
  }
}

TEST(Generator, DrawsBytesOfEveryLength) {
  Generator random = generator();
  for (const std::vector<uint8_t>& bytes : vectors::kBytes) EXPECT_EQ(random.bytes(bytes.size()), bytes);
}

TEST(Generator, PermutesNumbersAndValues) {
  Generator random = generator();
  for (const std::vector<int64_t>& order : vectors::kPermutations)
    EXPECT_EQ(random.permutation(static_cast<int64_t>(order.size())), order);
  EXPECT_EQ(random.permutation(std::vector<double>{0.5, -1, 4, 8, 2.25}), vectors::kPermutedReals);
  EXPECT_EQ(random.integers(0, int64_t{1} << 32, 3), vectors::kAfterPermutations);
  expect_refused([&] { random.permutation(int64_t{-1}); }, "-1 elements");
  expect_refused([&] { random.permutation((int64_t{1} << 32) + 1); }, "at most 2^32");
}

TEST(Generator, ChoosesWithReplacement) {
  Generator random = generator();
  std::vector<int64_t> chosen;
  for (int i = 0; i < 3; ++i) chosen.push_back(random.choice(7));
  for (const int64_t i : random.choice(7, 4)) chosen.push_back(i);
  EXPECT_EQ(chosen, vectors::kChosen);
  EXPECT_EQ(random.choice(std::vector<double>{0.5, -1, 4}, 6), vectors::kChosenReals);
}

}  // namespace
}  // namespace mokume::search::numpy
