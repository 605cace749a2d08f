#include "signals.hpp"

#include <unistd.h>
#include <csignal>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/text.hpp"

namespace mokume::app {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGINT:
      return "Ctrl-C";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "SIGUSR2";
  }
}

}  // namespace

StopWatch::StopWatch(std::optional<double> max_seconds) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this, max_seconds] { watch(max_seconds); });
}

StopWatch::~StopWatch() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

std::string StopWatch::cause() {
  const std::lock_guard lock(mutex_);
  return cause_;
}

void StopWatch::announce() {
  const std::lock_guard lock(mutex_);
  announces_ = true;
  std::fputs(announcement_.c_str(), stderr);
}

void StopWatch::stop_for(const std::string& cause, const char* announcement) {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  cause_ = cause;
  announcement_ = announcement;
  if (announces_) std::fputs(announcement, stderr);
  stop_ = true;
}

void StopWatch::watch(std::optional<double> max_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const sigset_t set = watched_signals();
  while (!ending_) {
    double wait = 3600;
    if (max_seconds && !stop_)
      wait = std::clamp(*max_seconds - std::chrono::duration<double>(Clock::now() - start).count(), 0.0, wait);
    timespec time{};
    time.tv_sec = static_cast<time_t>(wait);
    time.tv_nsec = static_cast<long>((wait - static_cast<double>(time.tv_sec)) * 1e9);
    const int signal = sigtimedwait(&set, nullptr, &time);
    if (ending_) return;
    if (signal < 0) {
      if (max_seconds && !stop_ && std::chrono::duration<double>(Clock::now() - start).count() >= *max_seconds)
        stop_for("--max-time " + base::human_seconds(*max_seconds) + " is over",
                 "mokume: time limit reached; stopping\n");
      continue;
    }
    if (signal == SIGINT && stop_) _exit(75);
    stop_for(name_of(signal), "mokume: stopping; press Ctrl-C again to stop at once\n");
  }
}

}  // namespace mokume::app
