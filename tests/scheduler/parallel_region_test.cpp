// Tests the parallel region of the host backend.
#include "parallel_region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::host {
namespace {

// Imitates a host whose loops have a thread for each index. ThreadSanitizer can follow these threads, but not TBB's.
class ParallelRegions : public ::testing::TestWithParam<uint32_t> {
 protected:
  ParallelRegions() {
    table_.struct_size = sizeof(table_);
    table_.self = this;
    table_.concurrency = [](void*) { return GetParam(); };
    table_.parallel_for = [](void*, uint64_t count, void (*body)(void*, uint64_t), void* context) {
      std::vector<std::thread> threads;
      for (uint64_t i = 1; i < count; ++i) threads.emplace_back([=] { body(context, i); });
      body(context, 0);
      for (std::thread& t : threads) t.join();
    };
  }

  mk_host table_{};
  const sdk::Host host_{&table_};
};

// Each loop reads the values that the previous loop wrote, whichever thread ran an index.
TEST_P(ParallelRegions, RunLoopsOneAfterTheOther) {
  constexpr size_t kLoops = 60, kMost = 700;
  for (uint64_t round = 0; round < 100; ++round) {
    std::vector<uint64_t> values(kMost);
    ParallelRegion::run(host_, GetParam(), [&](ParallelRegion& region) {
      for (uint64_t l = 0; l < kLoops; ++l) {
        std::vector<uint64_t> next(1 + (l * 37 + round) % kMost);
        region.parallel_for(next.size(), [&](uint64_t i) { next[i] = values[i] + 1; });
        std::copy(next.begin(), next.end(), values.begin());
      }
    });
    std::vector<uint64_t> want(kMost);
    for (uint64_t l = 0; l < kLoops; ++l)
      for (uint64_t i = 0; i < 1 + (l * 37 + round) % kMost; ++i) ++want[i];
    ASSERT_EQ(values, want) << round;
  }
}

TEST_P(ParallelRegions, PassOnTheExceptionOfTheirWork) {
  EXPECT_THROW(ParallelRegion::run(host_, GetParam(), [](ParallelRegion&) { throw Error(MK_INTERNAL, "no"); }), Error);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelRegions, ::testing::Values(1U, 2U, 5U));

}  // namespace
}  // namespace mokume::host
