#include "watch.hpp"

#include <utility>

namespace mokume::mpi {
namespace {

constexpr int kLooks = 10;

}  // namespace

Watch::Watch(std::chrono::milliseconds limit, std::function<void()> late)
    : pause_(limit / kLooks), late_(std::move(late)), thread_([this] { look(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watch::turn() {
  const std::lock_guard lock(mutex_);
  ++turns_;
}

void Watch::look() {
  std::unique_lock lock(mutex_);
  unsigned long seen = 0;
  for (int same = 0; same < kLooks;) {
    if (wake_.wait_for(lock, pause_, [this] { return over_; })) return;
    const bool waits = turns_ % 2 == 1 && turns_ == seen;
    same = waits ? same + 1 : 0;
    seen = turns_;
  }
  lock.unlock();
  late_();
}

}  // namespace mokume::mpi
