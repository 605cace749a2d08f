// Detects a call that does not return.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace mokume::mpi {

// Checks in a thread, ten times per limit, whether the same call is still in progress. Therefore, time during which the
// whole process was stopped hardly counts.
class Watchdog {
 public:
  // Calls `late` once, on the watchdog's thread, after a call has taken about `limit`.
  Watchdog(std::chrono::milliseconds limit, std::function<void()> late);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Marks a call as in progress while this object exists. Only one call may be in progress at a time.
  class Call {
   public:
    explicit Call(Watchdog& watchdog) : watchdog_(watchdog) { watchdog_.turn(); }
    ~Call() { watchdog_.turn(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Watchdog& watchdog_;
  };

 private:
  void turn();
  void check();

  const std::chrono::milliseconds pause_;
  const std::function<void()> late_;
  std::mutex mutex_;
  std::condition_variable wake_;
  unsigned long turns_ = 0;  // odd while a call is in progress
  bool over_ = false;
  std::thread thread_;  // last, because it uses the other members
};

}  // namespace mokume::mpi
