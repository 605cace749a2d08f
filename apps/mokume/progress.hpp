// Shows the progress of a long run on stderr. On a terminal, one line per device and a total bar with an ETA are
// redrawn in place. Elsewhere, a plain line for the total and one for each of the first devices are printed every 30 s,
// or every 5 % but at most every 5 s. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "run/frontend.hpp"

namespace mokume::app {

class Progress {
 public:
  // `quiet` shows nothing (for nodes other than the first).
  Progress(bool terminal, bool quiet);
  ~Progress();  // clears the display
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A step of the run other than fitting: "loading mnist".
  void phase(const std::string& text);
  void begin_fits(const run::FitCounts& total, const run::FitCounts& done);
  void best(const std::string& text);  // of the best candidate so far
  void fit_done(const journal::FitRecord& record);
  void device(uint32_t node, const std::string& id, const std::string& name, const std::string& what, double share);
  void time_left(std::optional<double> seconds);
  void end_fits();
  void tick();  // redraws if it is due

  // Called before and after a line of the log.
  static void before_log(void* self);
  static void after_log(void* self);

 private:
  using Clock = std::chrono::steady_clock;
  struct DeviceLine {
    std::string name, what;
    double share = 0;  // finished part of the current fit
  };
  void draw();
  void clear();
  std::string total_line() const;
  std::string eta() const;
  double share() const;  // of all fits, including current ones

  const bool terminal_;
  const bool quiet_;
  std::recursive_mutex mutex_;
  std::map<std::pair<uint32_t, std::string>, DeviceLine> devices_;
  run::FitCounts counts_;  // of the plan
  std::string best_;       // shown below the total
  uint64_t refits_done_ = 0;
  uint64_t total_ = 0, done_ = 0, failed_ = 0;
  bool fitting_ = false;
  Clock::time_point start_, last_draw_, last_line_;
  std::optional<Clock::time_point> end_;  // the predicted one
  double last_share_ = 0;
  int drawn_lines_ = 0;
};

}  // namespace mokume::app
