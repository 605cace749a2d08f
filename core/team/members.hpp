// The members of a team on this node, but for the leader: each works in a thread of its own until its part is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mokume::team {

class Members {
 public:
  ~Members() = default;  // after end()

  // Runs `work` in a thread for this device; `tell` says afterwards that it has ended. False if the device is still at
  // work that nobody waits for.
  bool start(uint32_t device, std::function<void()> work, std::function<void()> tell);

  // Whether one works, or has not told yet that it has ended.
  bool working();

  // Waits for them for at most this long. False: one hangs in its driver and was left running.
  bool end(double most_s);

 private:
  struct State {
    std::atomic<bool> returned = false;  // the device is free again
    std::atomic<bool> done = false;      // and its end has been told
  };
  struct Work {
    uint32_t device = 0;
    std::shared_ptr<State> state;
    std::thread thread;
  };
  void join_ended();

  std::mutex mutex_;
  std::vector<Work> works_;
};

}  // namespace mokume::team
