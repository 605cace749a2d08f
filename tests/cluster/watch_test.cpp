#include "cluster/transport/mpi/watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace mokume::mpi {
namespace {

using namespace std::chrono_literals;

TEST(Watch, ACallThatDoesNotReturnIsNoticed) {
  std::promise<void> late;
  Watch watch(50ms, [&] { late.set_value(); });
  const Watch::Call call(watch);
  EXPECT_EQ(late.get_future().wait_for(60s), std::future_status::ready);
}

TEST(Watch, ShortCallsAndAPauseAreNotReported) {
  bool late = false;
  {
    Watch watch(20ms, [&] { late = true; });
    const auto end = std::chrono::steady_clock::now() + 60ms;
    while (std::chrono::steady_clock::now() < end) const Watch::Call call(watch);
    std::this_thread::sleep_for(60ms);
  }
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace mokume::mpi
