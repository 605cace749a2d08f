#include "experiment/watched_refit.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "sdk/error.hpp"

namespace mokume::experiment {
namespace {

journal::RefitRecord record_of(uint32_t candidate) {
  journal::RefitRecord record;
  record.candidate = candidate;
  return record;
}

// The clock of the watch is what a test says.
class WatchedRefit : public testing::Test {
 protected:
  RefitWatch watch() {
    return {[this](const std::string&, double) { ++signs_; }, [this] { return stop_.load(); },
            [this] { ++left_behind_; }, [this] { return clock_(); }, 5};
  }
  static bool cannot_be_broken_off() { return false; }

  std::atomic<int> signs_{0}, left_behind_{0};
  std::atomic<bool> stop_{false};
  std::function<double()> clock_ = [] { return 0.0; };
};

TEST_F(WatchedRefit, GivesWhatTheWorkGives) {
  const auto made = watch_refit([](const StepProgress&, const std::atomic<bool>&) { return record_of(7); },
                                cannot_be_broken_off, watch());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->candidate, 7u);
  EXPECT_EQ(left_behind_, 0);
}

TEST_F(WatchedRefit, ThrowsWhatTheWorkThrows) {
  const RefitWork work = [](const StepProgress&, const std::atomic<bool>&) -> journal::RefitRecord {
    throw Error(MK_BAD_DATA, "a file has changed");
  };
  try {
    watch_refit(work, cannot_be_broken_off, watch());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), MK_BAD_DATA);
    EXPECT_STREQ(e.what(), "a file has changed");
  }
}

TEST_F(WatchedRefit, IsToldToStop) {
  stop_ = true;
  const RefitWork work = [](const StepProgress&, const std::atomic<bool>& stop) -> journal::RefitRecord {
    while (!stop) std::this_thread::yield();
    throw Error(MK_CANCELLED, "stopped");
  };
  EXPECT_THROW(watch_refit(work, cannot_be_broken_off, watch()), Error);
}

TEST_F(WatchedRefit, ThatHangsIsLeftBehindAndCancelled) {
  double seconds = 0;
  clock_ = [&] { return seconds++; };
  std::atomic<bool> woken{false}, cancelled{false}, ended{false};
  const RefitWork work = [&](const StepProgress&, const std::atomic<bool>& stop) {
    while (!woken) std::this_thread::yield();
    cancelled = stop.load();
    ended = true;
    return record_of(0);
  };
  EXPECT_FALSE(watch_refit(work, cannot_be_broken_off, watch()));
  EXPECT_EQ(left_behind_, 1);
  woken = true;
  while (!ended) std::this_thread::yield();
  EXPECT_TRUE(cancelled);
}

TEST_F(WatchedRefit, ThatHangsIsBrokenOffWherePossible) {
  double seconds = 0;
  clock_ = [&] { return seconds++; };
  std::atomic<bool> broken_off{false};
  const RefitWork work = [&](const StepProgress&, const std::atomic<bool>&) -> journal::RefitRecord {
    while (!broken_off) std::this_thread::yield();
    throw Error(MK_DEVICE_ERROR, "its process was ended");
  };
  const auto break_off = [&] {
    clock_ = [] { return 0.0; };  // it comes back at once
    return broken_off = true;
  };
  EXPECT_THROW(watch_refit(work, break_off, watch()), Error);
  EXPECT_EQ(left_behind_, 0);
}

TEST_F(WatchedRefit, ThatDoesNotComeBackFromThatEitherIsLeftBehind) {
  double seconds = 0;
  clock_ = [&] { return seconds += 10; };
  std::atomic<bool> woken{false}, ended{false};
  const RefitWork work = [&](const StepProgress&, const std::atomic<bool>&) {
    while (!woken) std::this_thread::yield();
    ended = true;
    return record_of(0);
  };
  uint32_t tries = 0;
  EXPECT_FALSE(watch_refit(
      work, [&] { return ++tries > 0; }, watch()));
  EXPECT_EQ(tries, 1u);
  EXPECT_EQ(left_behind_, 1);
  woken = true;
  while (!ended) std::this_thread::yield();
}

// Four times the silence that counts as a hang, with a sign every second; and then, in silence, as long again.
TEST_F(WatchedRefit, MayTakeLongAndBeSilentAsLongAsItWorked) {
  constexpr int k_signs = 20, k_most = 2 * k_signs - 2;  // the clock is one behind the signs
  double seconds = 0;
  std::atomic<bool> silent{false}, late{false};
  clock_ = [&] {
    if (silent && seconds < k_most) ++seconds;
    if (!silent) seconds = signs_;
    late = seconds == k_most;
    return seconds;
  };
  const RefitWork work = [&](const StepProgress& progress, const std::atomic<bool>&) {
    for (int k = 0; k < k_signs; ++k) {
      progress("training", 0);
      while (signs_ == k) std::this_thread::yield();
    }
    silent = true;
    while (!late) std::this_thread::yield();
    return record_of(3);
  };
  const auto made = watch_refit(work, cannot_be_broken_off, watch());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->candidate, 3u);
  EXPECT_EQ(left_behind_, 0);
}

}  // namespace
}  // namespace mokume::experiment
