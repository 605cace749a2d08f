#include "run/tally.hpp"

#include <gtest/gtest.h>

namespace mokume::run {
namespace {

TEST(Tally, CountsVotesAndAddsUpCertainties) {
  Tally tally(2, 3);
  tally.add({{0, 2}, {0.75, 0.25, 0, 0, 0.25, 0.75}});
  tally.add({{1, 2}, {0.25, 0.5, 0.25, 0, 0, 1}});
  tally.add({{1, 0}, {0.25, 0.75, 0, 0.5, 0.25, 0.25}});
  EXPECT_EQ(tally.winner(0), 1U);
  EXPECT_EQ(tally.votes(0), 2U);
  EXPECT_EQ(tally.winner(1), 2U);
  EXPECT_EQ(tally.votes(1), 2U);
  EXPECT_EQ(tally.certainty(), (std::vector<double>{1.25, 1.5, 0.25, 0.5, 0.5, 2}));
}

TEST(Tally, CertaintyDecidesBetweenEqualVotes) {
  Tally tally(2, 2);
  tally.add({{0, 0}, {0.625, 0.375, 0.75, 0.25}});
  tally.add({{1, 1}, {0.25, 0.75, 0.25, 0.75}});
  EXPECT_EQ(tally.winner(0), 1U) << "0.875 against 1.125";
  EXPECT_EQ(tally.winner(1), 0U) << "of equal ones the first";
  EXPECT_EQ(tally.votes(1), 1U);
}

// The second member is more certain, but not in single precision, in which a run keeps its members' predictions.
TEST(Tally, CountsCertaintiesInTheStoredPrecision) {
  Tally tally(1, 2);
  tally.add({{0}, {1 - 1e-10, 0}});
  tally.add({{1}, {0, 1 - 1e-12}});
  EXPECT_EQ(tally.winner(0), 0U);
}

}  // namespace
}  // namespace mokume::run
