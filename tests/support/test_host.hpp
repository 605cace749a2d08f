// Implements, for tests, the program's services for libraries, without TBB and in one header.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "abi/host.h"
#include "abi/plugin.h"
#include "support/cache.hpp"

namespace mokume::test {

struct LogLine {
  int32_t level;
  std::string source, text;
};

// Owns its table, which is valid for the host's lifetime. Keeps every log line.
class TestHost {
 public:
  explicit TestHost(uint32_t threads = 2) : threads_(threads) {
    table_ = {sizeof(mk_host), MK_ABI_MAJOR, MK_ABI_MINOR, this,    log,
              parallel_for,    concurrency,  allocate,     release, cache_directory};
  }
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  const mk_host* table() const { return &table_; }
  const std::string& cache() const { return cache_.path(); }

  // Sets the number of threads of parallel_for, including the calling thread.
  void set_threads(uint32_t threads) { threads_ = threads; }

  std::vector<LogLine> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  static TestHost& of(void* self) { return *static_cast<TestHost*>(self); }

  static void log(void* self, int32_t level, const char* source, const char* text) {
    const std::lock_guard lock(of(self).mutex_);
    of(self).lines_.push_back({level, source, text});
  }

  // Runs in reverse and interleaved order, so that no code can rely on an order.
  static void parallel_for(void* self, uint64_t count, void (*body)(void*, uint64_t), void* context) {
    std::atomic<uint64_t> left{count};
    const auto work = [&] {
      for (uint64_t index = left; index > 0;)
        if (left.compare_exchange_weak(index, index - 1)) body(context, --index);
    };
    std::vector<std::thread> helpers;
    const uint64_t wanted = std::min<uint64_t>(of(self).threads_, count);
    for (uint64_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  }

  static uint32_t concurrency(void* self) { return of(self).threads_; }
  static void* allocate(void*, size_t bytes) {
    constexpr size_t kAlignment = 64;
    if (bytes > SIZE_MAX - kAlignment) return nullptr;
    return std::aligned_alloc(kAlignment, (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment);
  }
  static void release(void*, void* memory) { std::free(memory); }
  static const char* cache_directory(void* self) { return of(self).cache_.path().c_str(); }

  std::atomic<uint32_t> threads_;
  CacheDirectory cache_;
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
  mk_host table_{};
};

}  // namespace mokume::test
