#include "watchdog.hpp"

#include <utility>

namespace mokume::mpi {
namespace {

constexpr int kChecks = 10;

}  // namespace

Watchdog::Watchdog(std::chrono::milliseconds limit, std::function<void()> late)
    : pause_(limit / kChecks), late_(std::move(late)), thread_([this] { check(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::turn() {
  const std::lock_guard lock(mutex_);
  ++turns_;
}

void Watchdog::check() {
  std::unique_lock lock(mutex_);
  unsigned long seen = 0;
  for (int same = 0; same < kChecks;) {
    if (wake_.wait_for(lock, pause_, [this] { return over_; })) return;
    const bool waits = turns_ % 2 == 1 && turns_ == seen;
    same = waits ? same + 1 : 0;
    seen = turns_;
  }
  lock.unlock();
  late_();
}

}  // namespace mokume::mpi
