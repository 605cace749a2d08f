#include "watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace mokume::mpi {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, ACallThatDoesNotReturnIsNoticed) {
  std::promise<void> late;
  Watchdog watchdog(50ms, [&] { late.set_value(); });
  const Watchdog::Call call(watchdog);
  EXPECT_EQ(late.get_future().wait_for(60s), std::future_status::ready);
}

TEST(Watchdog, ShortCallsAndAPauseAreNotReported) {
  bool late = false;
  {
    Watchdog watchdog(20ms, [&] { late = true; });
    const auto end = std::chrono::steady_clock::now() + 60ms;
    while (std::chrono::steady_clock::now() < end) const Watchdog::Call call(watchdog);
    std::this_thread::sleep_for(60ms);
  }
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace mokume::mpi
