#include "scheduler/policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mokume::scheduler {
namespace {

Workload of(const std::vector<Piece>& pieces) { return {pieces, {}}; }

TEST(Policy, GivesTheLongestThatFits) {
  Policy policy(of({{{0}, 1, 10, 0}, {{1}, 9, 1000, 1}, {{2}, 5, 100, 2}}), {{"a", 500, 0}, {"a", 2000, 0}});
  for (uint32_t i = 0; i < 3; ++i) policy.wait(i);
  EXPECT_EQ(policy.next(0, 0)->pieces, (std::vector<uint32_t>{2}));
  EXPECT_FALSE(policy.next(0, 0)) << "a busy unit gets nothing";
  EXPECT_EQ(policy.next(1, 0)->pieces, (std::vector<uint32_t>{1}));
}

TEST(Policy, WhatDidNotEndWaitsAgain) {
  Policy policy(of({{{0, 1}, 4, 1, 0}, {{2}, 2, 1, 1}}), {{"a", 10, 0}, {"a", 5, 0}});
  policy.wait(0);
  policy.wait(1);
  ASSERT_EQ(policy.next(0, 0)->pieces, (std::vector<uint32_t>{0}));
  policy.ended(0, {}, 0, 1);
  policy.needs_more_than(0, 10);
  EXPECT_EQ(policy.unplaceable(), (std::vector<uint32_t>{0}));
  ASSERT_EQ(policy.next(0, 1)->pieces, (std::vector<uint32_t>{1}));
  policy.ended(0, {1}, 1, 2);
  policy.retire(0);
  policy.wait(1);
  EXPECT_FALSE(policy.next(0, 2));
}

TEST(Policy, TakesAPieceApart) {
  Policy policy(of({{{3, 4, 5}, 6, 1, 0}}), {{"a", 10, 0}});
  policy.wait(0);
  const std::vector<uint32_t> parts = policy.take_apart(0, {4, 5});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(policy.piece(parts[0]).fits, (std::vector<uint32_t>{4}));
  EXPECT_EQ(policy.piece(parts[1]).cost, 2);
  EXPECT_EQ(policy.next(0, 0)->pieces, (std::vector<uint32_t>{parts[0]}));
}

}  // namespace
}  // namespace mokume::scheduler
