#include "scheduler/feeders.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "scheduler/host_services.hpp"

namespace mokume::scheduler {
namespace {

// Counts finished jobs, and waits for them.
class Ends {
 public:
  // Returns a job that does the same as `job` and counts itself at its end.
  Feeders::Job counted(Feeders::Job job) {
    return [this, job = std::move(job)] {
      job();
      const std::lock_guard lock(mutex_);
      ++count_;
      wake_.notify_all();
    };
  }
  bool wait(size_t count) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, std::chrono::seconds(60), [&] { return count_ >= count; });
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  size_t count_ = 0;
};

TEST(Feeders, RunEachDevicesJobsInOrderOnItsOwnThread) {
  Ends ends;
  std::vector<std::vector<int>> ran(3);
  std::vector<std::set<std::thread::id>> threads(3);
  {
    Feeders feeders(3);
    for (int job = 0; job < 50; ++job) {
      for (uint32_t device = 0; device < 3; ++device) {
        feeders.push(device, ends.counted([&ran, &threads, device, job] {
          ran[device].push_back(job);
          threads[device].insert(std::this_thread::get_id());
        }));
      }
    }
    ASSERT_TRUE(ends.wait(150));
  }
  std::set<std::thread::id> all;
  for (uint32_t device = 0; device < 3; ++device) {
    ASSERT_EQ(ran[device].size(), 50u);
    EXPECT_TRUE(std::is_sorted(ran[device].begin(), ran[device].end()));
    EXPECT_EQ(threads[device].size(), 1u);
    all.insert(threads[device].begin(), threads[device].end());
  }
  EXPECT_EQ(all.size(), 3u);
}

// Jobs that block in their drivers must all run at once, whatever the number of cores.
TEST(Feeders, AllRunAtOnce) {
  constexpr uint32_t kDevices = 12;
  Ends ends;
  std::mutex mutex;
  std::condition_variable wake;
  uint32_t inside = 0;
  std::atomic<bool> starved{false};
  Feeders feeders(kDevices);
  for (uint32_t device = 0; device < kDevices; ++device) {
    feeders.push(device, ends.counted([&] {
      std::unique_lock lock(mutex);
      ++inside;
      wake.notify_all();
      if (!wake.wait_for(lock, std::chrono::seconds(30), [&] { return inside == kDevices; })) starved = true;
    }));
  }
  ASSERT_TRUE(ends.wait(kDevices));
  EXPECT_FALSE(starved);
}

TEST(Feeders, StopWaitsForRunningJobsAndDropsTheRest) {
  Ends ends;
  std::atomic<bool> started{false}, finished{false}, dropped_ran{false};
  Feeders feeders(1);
  feeders.push(0, ends.counted([&] {
    started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    finished = true;
  }));
  feeders.push(0, ends.counted([&] { dropped_ran = true; }));
  while (!started) std::this_thread::yield();
  feeders.stop();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(dropped_ran);
  EXPECT_EQ(ends.count(), 1u);
}

TEST(Feeders, NoDevicesNeedNoThreads) {
  Feeders feeders(0);
  feeders.stop();
}

// Feeders that call parallel_for, all at once and nested, finish with the right sums: nothing starves or deadlocks.
TEST(Feeders, ShareParallelFor) {
  base::Log log;
  const HostServices host(log, 3, "");
  const mk_host* table = host.table();
  Ends ends;
  std::atomic<uint64_t> wrong{0};
  Feeders feeders(4);
  for (int round = 0; round < 20; ++round) {
    for (uint32_t device = 0; device < 4; ++device) {
      feeders.push(device, ends.counted([&] {
        struct Outer {
          const mk_host* table;
          std::vector<uint64_t> sums;
        } outer{table, std::vector<uint64_t>(16, 0)};
        table->parallel_for(
            table->self, 16,
            [](void* context, uint64_t i) {
              auto& self = *static_cast<Outer*>(context);
              std::atomic<uint64_t> inner{0};
              self.table->parallel_for(
                  self.table->self, 50,
                  [](void* sum, uint64_t j) { static_cast<std::atomic<uint64_t>*>(sum)->fetch_add(j); }, &inner);
              self.sums[i] = inner.load();
            },
            &outer);
        for (const uint64_t sum : outer.sums) wrong += sum != 1225;
      }));
    }
  }
  ASSERT_TRUE(ends.wait(80));
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace mokume::scheduler
