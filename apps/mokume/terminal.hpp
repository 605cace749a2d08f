// Shows the progress of a long run on stderr. On a terminal, redraws one line per device and a total bar with an ETA in
// place. Elsewhere, prints a plain line for the total and one for each of the first devices every 30 s, or every 5 %
// but at most every 5 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "frontends.hpp"

namespace mokume::app {

class Terminal : public ProcessFrontend {
 public:
  // If `quiet`, shows nothing, for example on nodes other than the first.
  Terminal(Runtime& runtime, StopWatch& watch, bool quiet);
  ~Terminal() override;  // clears the display
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void phase(const std::string& text) override;
  void begin_fits(const run::FitsStart& start) override;
  void fit_done(const journal::FitRecord& record) override;
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override;
  void end_fits() override;

  // The log calls these functions before and after each line, on any thread.
  static void before_log(void* self);
  static void after_log(void* self);

 private:
  using Clock = std::chrono::steady_clock;
  struct DeviceLine {
    std::string name, what;
    double share = 0;  // finished part of the current fit
  };
  void show_time_left();
  void show_if_due();
  void redraw();
  void clear();
  uint64_t total() const { return fits_ + refits_; }
  std::string total_line() const;
  std::string eta() const;
  double share() const;  // returns the finished part of all fits, including running fits

  const bool terminal_;
  const bool quiet_;
  std::recursive_mutex mutex_;
  std::map<std::pair<uint32_t, std::string>, DeviceLine> devices_;  // by node and id
  std::string best_text_;                                           // shown below the total
  const run::StatusFile* status_ = nullptr;                         // set by begin_fits()
  uint64_t fits_ = 0, refits_ = 0;                                  // numbers in the plan
  uint64_t refits_done_ = 0;
  uint64_t done_ = 0, failed_ = 0;
  bool fitting_ = false;
  Clock::time_point start_, last_draw_, last_line_;
  std::optional<Clock::time_point> end_;  // predicted end
  double last_share_ = 0;
  int drawn_lines_ = 0;
};

}  // namespace mokume::app
