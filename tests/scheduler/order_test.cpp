#include "scheduler/order.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace mokume::scheduler {
namespace {

TEST(Order, LongestFirstThenByIndex) {
  EXPECT_EQ(longest_first({{1, 0}, {5, 0}, {1, 0}, {9, 0}, {5, 0}}), (std::vector<uint32_t>{3, 1, 4, 0, 2}));
}

TEST(Order, CostsThatAreNoNumberCountAsLongest) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(longest_first({{1, 0}, {nan, 0}, {-3, 0}, {inf, 0}, {nan, 0}}), (std::vector<uint32_t>{1, 3, 4, 0, 2}));
}

TEST(Order, NamesWhatNobodyHolds) {
  const std::vector<Load> loads = {{1, 100}, {1, 101}, {1, 0}};
  EXPECT_EQ(unplaceable(loads, {50, 100}), (std::vector<uint32_t>{1}));
  EXPECT_EQ(unplaceable(loads, {}), (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Queue, GivesTheLongestThatFits) {
  Queue queue({{1, 10}, {9, 1000}, {5, 100}, {7, 100}});
  for (uint32_t i = 0; i < 4; ++i) queue.put(i);
  EXPECT_EQ(queue.take(500), 3u);
  EXPECT_EQ(queue.take(500), 2u);
  EXPECT_EQ(queue.take(2000), 1u);
  EXPECT_EQ(queue.take(9), std::nullopt);
  EXPECT_EQ(queue.size(), 1u);
  queue.put(3);
  EXPECT_EQ(queue.take(500), 3u);
  EXPECT_EQ(queue.take(500), 0u);
  EXPECT_TRUE(queue.empty());
}

TEST(Queue, HoldsOnlyWhatWasPut) {
  Queue queue({{1, 0}, {2, 0}});
  EXPECT_EQ(queue.take(1), std::nullopt);
  queue.put(0);
  EXPECT_EQ(queue.take(1), 0u);
  EXPECT_EQ(queue.take(1), std::nullopt);
}

}  // namespace
}  // namespace mokume::scheduler
