// Stop requests by a signal or by a time limit.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace mokume::app {

// While this object exists, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and the end of `max_seconds` set stop() once. A second
// SIGINT exits the program at once (journals stay consistent). Create it before any other thread, so that threads
// inherit the blocked signals.
class StopWatch {
 public:
  explicit StopWatch(std::optional<double> max_seconds);
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void watch(std::optional<double> max_seconds);

  std::atomic<bool> stop_{false};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace mokume::app
