#include "search/halving.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace mokume::search {
namespace {

using State = InRung::State;
using Keeps = std::vector<bool>;

constexpr double kFailed = std::numeric_limits<double>::infinity();

InRung done(double loss) { return {State::done, loss}; }

TEST(Kept, TakesTheBest) {
  EXPECT_EQ(kept({done(3), done(1), done(2), done(1)}, std::vector<InRung>(4), 2), (Keeps{false, true, false, true}));
}

TEST(Kept, PrefersTheFirstOfEqualLosses) {
  EXPECT_EQ(kept({done(1), done(1), done(1)}, std::vector<InRung>(3), 2), (Keeps{true, true, false}));
}

TEST(Kept, NeverTakesACandidateThatFailed) {
  EXPECT_EQ(kept({done(kFailed), done(1), done(kFailed)}, std::vector<InRung>(3), 2), (Keeps{false, true, false}));
}

TEST(Kept, ChangesNothingThatIsRecorded) {
  const std::vector<InRung> before = {done(1), done(2), done(3), {State::dropped, 0}};
  const std::vector<InRung> now = {{State::dropped, 0}, {}, {State::begun, 0}, {State::dropped, 0}};
  EXPECT_EQ(kept(before, now, 2), (Keeps{false, true, true, false}));
  EXPECT_EQ(kept(before, now, 1), (Keeps{false, false, true, false}));
}

TEST(IsComplete, NeedsAResultOrNoneOfEachCandidate) {
  EXPECT_TRUE(is_complete({done(1), done(kFailed), {State::dropped, 0}}));
  EXPECT_FALSE(is_complete({done(1), {}}));
  EXPECT_FALSE(is_complete({done(1), {State::begun, 0}}));
}

}  // namespace
}  // namespace mokume::search
