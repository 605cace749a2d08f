// Tests the lock of a directory, which a process of another descriptor holds.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "run/run_directory.hpp"
#include "sdk/error.hpp"
#include "support/scratch.hpp"

namespace mokume::run {
namespace {

int32_t status_of(const std::string& path, const LockWait& wait) {
  try {
    const DirectoryLock lock(path, wait);
    return MK_OK;
  } catch (const Error& error) {
    return error.status();
  }
}

TEST(DirectoryLock, IsRefusedWhileAnotherHoldsIt) {
  const test::Scratch scratch;
  {
    const DirectoryLock held(scratch.path());
    // The same command may succeed later, so the lock of another process is no error of the user.
    EXPECT_EQ(status_of(scratch.path(), {}), MK_CANCELLED);
    EXPECT_EQ(status_of(scratch.path(), {0.3}), MK_CANCELLED);
    const std::atomic<bool> stop{true};
    EXPECT_EQ(status_of(scratch.path(), {3600, &stop}), MK_CANCELLED);
  }
  EXPECT_EQ(status_of(scratch.path(), {}), MK_OK);
}

TEST(DirectoryLock, IsTakenOnceTheOtherLetsGo) {
  const test::Scratch scratch;
  std::optional<DirectoryLock> held(scratch.path());
  auto waiting = std::async(std::launch::async, [&] { return status_of(scratch.path(), {3600}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  held.reset();
  EXPECT_EQ(waiting.get(), MK_OK);
}

}  // namespace
}  // namespace mokume::run
