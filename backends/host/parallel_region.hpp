// Shares the loops of successive ops among threads. A loop of an op that takes microseconds ends before a sleeping
// thread wakes. The threads of a parallel region (the term is OpenMP's) wake once, for a whole sequence of ops, and
// wait between loops without sleeping.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>

#include "sdk/plugin.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace mokume::host {

class ParallelRegion {
 public:
  // Runs work(region) on one thread while other threads of the host help with its loops, and rethrows its exception.
  // The host may run several bodies in sequence on one thread: the first body leads, and later bodies do nothing.
  template <class Work>
  static void run(const sdk::Host& host, uint32_t most_threads, Work&& work) {
    ParallelRegion region(std::min({host.concurrency(), most_threads, kMostThreads}));
    if (region.threads_ == 1) return work(region);
    std::exception_ptr thrown;
    host.parallel_for(region.threads_, [&](uint64_t) {
      const uint32_t thread = region.joined_.fetch_add(1);
      if (thread != 0) return region.help(thread);
      try {
        work(region);
      } catch (...) {
        thrown = std::current_exception();
      }
      region.ended_.store(true, std::memory_order_release);
    });
    if (thrown) std::rethrow_exception(thrown);
  }

  // Calls body(i) for every i in [0, count), on all threads. Each thread begins with its own share, the same part of
  // the range in every loop, so that it reads mostly what it wrote. Only work() may call this. The body must not throw.
  template <class Body>
  void parallel_for(uint64_t count, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    body_ = [](void* context, uint64_t i) { (*static_cast<Plain*>(context))(i); };
    context_ = const_cast<void*>(static_cast<const void*>(&body));
    count_ = count;
    done_.store(0, std::memory_order_relaxed);
    for (uint32_t t = 0; t < threads_; ++t)
      shares_[t].left.store(static_cast<int64_t>(begin(t + 1) - begin(t)), std::memory_order_release);
    while (take(0)) {
    }
    for (Pause pause; done_.load(std::memory_order_acquire) < count;) pause();
  }

 private:
  // Yields to other threads after a while, because one of them may have taken an index and been interrupted.
  class Pause {
   public:
    void operator()() {
      constexpr int kShort = 200;
      if (++times_ > kShort) return std::this_thread::yield();
#if defined(__x86_64__)
      _mm_pause();
#endif
    }

   private:
    int times_ = 0;
  };

  struct alignas(64) Share {
    std::atomic<int64_t> left{0};
  };

  explicit ParallelRegion(uint32_t threads) : threads_(threads) {}

  uint64_t begin(uint64_t share) const { return count_ * share / threads_; }

  // Runs one index of the current loop. Returns false if none is left. A new loop replaces the current one when all
  // taken indices are done.
  bool take(uint32_t thread) {
    for (uint32_t k = 0; k < threads_; ++k) {
      const uint32_t share = (thread + k) % threads_;
      std::atomic<int64_t>& left = shares_[share].left;
      if (left.load(std::memory_order_relaxed) <= 0) continue;
      const int64_t taken = left.fetch_sub(1, std::memory_order_acquire);
      if (taken <= 0) continue;
      body_(context_, begin(share + 1) - static_cast<uint64_t>(taken));
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
    return false;
  }

  void help(uint32_t thread) {
    for (Pause pause; !ended_.load(std::memory_order_acquire);)
      if (take(thread))
        pause = {};
      else
        pause();
  }

  static constexpr uint32_t kMostThreads = 16;  // the ops of a sequence are too small for more

  const uint32_t threads_;
  std::atomic<uint32_t> joined_{0};
  std::atomic<bool> ended_{false};
  void (*body_)(void*, uint64_t) = nullptr;
  void* context_ = nullptr;
  uint64_t count_ = 0;
  Share shares_[kMostThreads];
  alignas(64) std::atomic<uint64_t> done_{0};
};

}  // namespace mokume::host
