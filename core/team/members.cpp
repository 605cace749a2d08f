#include "team/members.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/clock.hpp"

namespace mokume::team {

bool Members::start(uint32_t device, std::function<void()> work, std::function<void()> tell) {
  join_ended();
  const std::lock_guard lock(mutex_);
  if (std::any_of(works_.begin(), works_.end(),
                  [&](const Work& w) { return w.device == device && !w.state->returned; }))
    return false;
  const auto state = std::make_shared<Flags>();
  works_.push_back({device, state, std::thread([state, work = std::move(work), tell = std::move(tell)] {
                      work();
                      state->returned = true;
                      tell();
                      state->done = true;
                    })});
  return true;
}

bool Members::working() {
  const std::lock_guard lock(mutex_);
  return std::any_of(works_.begin(), works_.end(), [](const Work& work) { return !work.state->done; });
}

// Joins finished threads without holding the lock, which their last callback may need.
void Members::join_ended() {
  std::vector<Work> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::partition(works_.begin(), works_.end(), [](const Work& work) { return !work.state->done; });
    std::move(first, works_.end(), std::back_inserter(ended));
    works_.erase(first, works_.end());
  }
  for (Work& work : ended) work.thread.join();
}

bool Members::end(double most_s) {
  const double start = base::steady_s();
  while (working() && base::steady_s() - start < most_s) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  join_ended();
  for (Work& work : works_) work.thread.detach();
  return std::exchange(works_, {}).empty();
}

}  // namespace mokume::team
