// Turns signals and a time limit into stop requests.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace mokume::app {

// While this object exists, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and the end of `max_seconds` set stop(). A SIGINT after
// that exits the program at once; journals stay consistent. Must be created before any other thread, so that threads
// inherit the blocked signals.
class StopWatch {
 public:
  explicit StopWatch(std::optional<double> max_seconds);
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  const std::atomic<bool>& stop() const { return stop_; }
  // Returns the cause of a stop, such as "SIGTERM" or "--max-time 1 h is over"; "" without a stop. Thread-safe.
  std::string cause();
  // Prints a message to stderr when a stop is requested, or at once if one already was.
  void announce();

 private:
  void watch(std::optional<double> max_seconds);
  void stop_for(const std::string& cause, const char* announcement);

  std::mutex mutex_;  // protects the next three members
  bool announces_ = false;
  std::string cause_, announcement_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace mokume::app
