#include "signals.hpp"

#include <unistd.h>
#include <csignal>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace mokume::app {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
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
        if (!stop_.exchange(true)) std::fputs("mokume: time limit reached; stopping\n", stderr);
      continue;
    }
    if (signal == SIGINT && stop_) _exit(75);
    if (!stop_.exchange(true)) std::fputs("mokume: stopping; press Ctrl-C again to stop at once\n", stderr);
  }
}

}  // namespace mokume::app
