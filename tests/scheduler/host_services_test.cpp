#include "scheduler/host_services.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "scheduler/cores.hpp"

namespace mokume::scheduler {
namespace {

class HostServicesTest : public testing::Test {
 protected:
  base::Log log_;
};

TEST_F(HostServicesTest, FillsTheWholeTable) {
  const HostServices host(log_, 3, "/somewhere/cache");
  const mk_host* table = host.table();
  EXPECT_EQ(table->struct_size, sizeof(mk_host));
  EXPECT_EQ(table->concurrency(table->self), 3u);
  EXPECT_STREQ(table->cache_directory(table->self), "/somewhere/cache");
  table->log(table->self, MK_LOG_DEBUG, "test", "below the level of stderr");
  table->log(table->self, 12345, "test", "a level from nowhere counts as an error");
}

TEST_F(HostServicesTest, TakesItsThreadsFromTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(allowed_cores(), static_cast<uint32_t>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(allowed_cores(), 1u);
  const HostServices host(log_, 0, "");
  EXPECT_EQ(host.table()->concurrency(host.table()->self), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

// Ranks that share a host learn their part of the cores after the program has started.
TEST_F(HostServicesTest, ReadsTheCoresOnlyWhenThreadsAreNeeded) {
  const HostServices host(log_, 0, "");
  {
    const OnCores here({allowed_core_list().back()});
    EXPECT_EQ(host.table()->concurrency(host.table()->self), 1u);
  }
  EXPECT_EQ(host.table()->concurrency(host.table()->self), 1u) << "and then it stays";
}

TEST_F(HostServicesTest, CanBeLimitedBeforeItsFirstUse) {
  HostServices host(log_, 0, "");
  host.limit(3);
  EXPECT_EQ(host.table()->concurrency(host.table()->self), 3u);
  host.limit(2);
  EXPECT_EQ(host.table()->concurrency(host.table()->self), 3u);
}

TEST_F(HostServicesTest, ParallelForCallsEveryIndexOnce) {
  for (const uint32_t threads : {1u, 4u}) {
    const HostServices host(log_, threads, "");
    const mk_host* table = host.table();
    for (const uint64_t count : {0u, 1u, 2u, 1000u, 100000u}) {
      std::vector<uint32_t> calls(count, 0);
      table->parallel_for(
          table->self, count, [](void* context, uint64_t i) { ++(*static_cast<std::vector<uint32_t>*>(context))[i]; },
          &calls);
      EXPECT_EQ(calls, std::vector<uint32_t>(count, 1));
    }
  }
}

// Two bodies that wait for each other finish only if two threads run them, whatever the number of cores.
TEST_F(HostServicesTest, ParallelForUsesTheThreadsItWasGiven) {
  const HostServices host(log_, 3, "");
  struct Meeting {
    std::mutex mutex;
    std::condition_variable wake;
    uint32_t inside = 0;
    uint32_t met = 0;
  } meeting;
  host.table()->parallel_for(
      host.table()->self, 3,
      [](void* context, uint64_t) {
        auto& self = *static_cast<Meeting*>(context);
        std::unique_lock lock(self.mutex);
        ++self.inside;
        self.wake.notify_all();
        self.met += self.wake.wait_for(lock, std::chrono::seconds(30), [&] { return self.inside == 3; });
      },
      &meeting);
  EXPECT_EQ(meeting.met, 3u);
}

TEST_F(HostServicesTest, AllocatesAlignedMemoryAndRefusesNonsense) {
  const HostServices host(log_, 1, "");
  const mk_host* table = host.table();
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{100000}}) {
    auto* memory = static_cast<unsigned char*>(table->allocate(table->self, bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    for (size_t i = 0; i < bytes; ++i) memory[i] = 1;
    table->release(table->self, memory);
  }
  EXPECT_EQ(table->allocate(table->self, SIZE_MAX), nullptr);
  EXPECT_EQ(table->allocate(table->self, SIZE_MAX / 2 + 1), nullptr);
}

}  // namespace
}  // namespace mokume::scheduler
