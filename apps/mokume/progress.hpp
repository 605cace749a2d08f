// The display of a long run on stderr: on a terminal one line per device and a total bar with an ETA, redrawn in place;
// elsewhere every 30 s, or every 5 % but not within 5 s, a plain line for all and one for each of the first devices.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace mokume::app {

class Progress {
 public:
  // `quiet` shows nothing (nodes other than the first).
  Progress(bool terminal, bool quiet);
  ~Progress();  // clears the display
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A step of the run that is not fitting: "loading mnist".
  void phase(const std::string& text);
  void begin_fits(uint64_t total, uint64_t done);
  void fit_done(bool failed);
  void device(uint32_t node, const std::string& id, const std::string& name, const std::string& what, double share);
  void end_fits();
  void tick();  // redraws if it is time to

  // Around a line of the log.
  static void before_log(void* self);
  static void after_log(void* self);

 private:
  using Clock = std::chrono::steady_clock;
  struct DeviceLine {
    std::string name, what;
    double share = 0;   // of the fit at work
    double before = 0;  // of it when this program first heard of it: done by one that was stopped
  };
  void draw();
  void clear();
  std::string total_line() const;
  std::string eta() const;
  double share() const;  // of all fits, those at work included

  const bool terminal_;
  const bool quiet_;
  std::recursive_mutex mutex_;
  std::map<std::pair<uint32_t, std::string>, DeviceLine> devices_;
  uint64_t total_ = 0, done_ = 0, done_before_ = 0, failed_ = 0;
  bool fitting_ = false;
  Clock::time_point start_, last_draw_, last_line_;
  double last_share_ = 0;
  int drawn_lines_ = 0;
};

}  // namespace mokume::app
