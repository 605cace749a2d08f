#include "device/budget.hpp"

#include <gtest/gtest.h>

namespace mokume::device {
namespace {

mk_device_info info(mk_device_kind kind, uint64_t memory, uint64_t flags = 0) {
  mk_device_info result{};
  result.kind = kind;
  result.memory_bytes = memory;
  result.flags = flags;
  return result;
}

TEST(Budget, ForAGpuIsItsOwnMemory) {
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_GPU, 1000), 10, 4), 900U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_OTHER, 1000), 10, 4), 900U);
}

TEST(Budget, InTheHostsMemoryIsItsShareOrTheFigureOfTheDriver) {
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_CPU, 100000), 1000, 1), 900U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_CPU, 100000), 1000, 3), 300U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_CPU, 250), 1000, 3), 250U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_CPU, 0), 1000, 0), 900U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_GPU, 100000, MK_DEVICE_SOFTWARE), 1000, 3), 300U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_GPU, 100000, MK_DEVICE_SHARED_MEMORY), 1000, 2), 450U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_GPU, 200, MK_DEVICE_SHARED_MEMORY), 1000, 2), 200U);
  EXPECT_EQ(budget_bytes(info(MK_DEVICE_CPU, UINT64_MAX), UINT64_MAX, 1), UINT64_MAX - UINT64_MAX / 10);
}

}  // namespace
}  // namespace mokume::device
