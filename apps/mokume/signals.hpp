// Asked to stop: by a signal or by the clock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace mokume::app {

// While it lives, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and the end of `max_seconds` set stop() once; a second SIGINT ends
// the program at once (journals stay whole). Create it before any other thread: they inherit the blocked signals.
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
