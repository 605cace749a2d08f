#include "scheduler/feeders.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "scheduler/host_services.hpp"

namespace mokume::scheduler {
namespace {

// Counts finished jobs, and waits for them.
class Ends {
 public:
  void operator()(uint32_t device, const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    devices_.push_back(device);
    if (error) errors_.push_back(error);
    wake_.notify_all();
  }
  bool wait(size_t count) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, std::chrono::seconds(60), [&] { return devices_.size() >= count; });
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return devices_.size();
  }
  std::vector<std::exception_ptr> errors() {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<uint32_t> devices_;
  std::vector<std::exception_ptr> errors_;
};

TEST(Feeders, RunEachDevicesJobsInOrderOnItsOwnThread) {
  Ends ends;
  std::vector<std::vector<int>> ran(3);
  std::vector<std::set<std::thread::id>> threads(3);
  {
    Feeders feeders(3, std::ref(ends));
    for (int job = 0; job < 50; ++job) {
      for (uint32_t device = 0; device < 3; ++device) {
        feeders.push(device, [&ran, &threads, device, job] {
          ran[device].push_back(job);
          threads[device].insert(std::this_thread::get_id());
        });
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
  Feeders feeders(kDevices, std::ref(ends));
  for (uint32_t device = 0; device < kDevices; ++device) {
    feeders.push(device, [&] {
      std::unique_lock lock(mutex);
      ++inside;
      wake.notify_all();
      if (!wake.wait_for(lock, std::chrono::seconds(30), [&] { return inside == kDevices; })) {
        throw std::runtime_error("starved");
      }
    });
  }
  ASSERT_TRUE(ends.wait(kDevices));
  EXPECT_TRUE(ends.errors().empty());
}

TEST(Feeders, PassExceptionsToTheOwnerAndContinue) {
  Ends ends;
  Feeders feeders(1, std::ref(ends));
  std::atomic<bool> after{false};
  feeders.push(0, [] { throw std::runtime_error("driver fell over"); });
  feeders.push(0, [&] { after = true; });
  ASSERT_TRUE(ends.wait(2));
  EXPECT_TRUE(after);
  const auto errors = ends.errors();
  ASSERT_EQ(errors.size(), 1u);
  try {
    std::rethrow_exception(errors[0]);
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "driver fell over");
  }
}

TEST(Feeders, StopWaitsForRunningJobsAndDropsTheRest) {
  Ends ends;
  std::atomic<bool> started{false}, finished{false}, dropped_ran{false};
  Feeders feeders(1, std::ref(ends));
  feeders.push(0, [&] {
    started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    finished = true;
  });
  feeders.push(0, [&] { dropped_ran = true; });
  while (!started) std::this_thread::yield();
  feeders.stop();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(dropped_ran);
  EXPECT_EQ(ends.count(), 1u);
}

TEST(Feeders, NoDevicesNeedNoThreads) {
  Feeders feeders(0, [](uint32_t, const std::exception_ptr&) {});
  feeders.stop();
}

// Feeders that call parallel_for, all at once and nested, finish with the right sums: nothing starves or deadlocks.
TEST(Feeders, ShareParallelFor) {
  base::Log log;
  const HostServices host(log, 3, "");
  const mk_host* table = host.table();
  Ends ends;
  std::atomic<uint64_t> wrong{0};
  Feeders feeders(4, std::ref(ends));
  for (int round = 0; round < 20; ++round) {
    for (uint32_t device = 0; device < 4; ++device) {
      feeders.push(device, [&] {
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
      });
    }
  }
  ASSERT_TRUE(ends.wait(80));
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace mokume::scheduler
