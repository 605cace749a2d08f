// The members of a team on this node except the leader. Each works in its own thread until its part is done.
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
  ~Members() = default;  // call end() first

  // Runs `work` in a thread for this device; `tell` then reports that it has finished. Returns false if the device
  // still does work that was given up.
  bool start(uint32_t device, std::function<void()> work, std::function<void()> tell);

  // Returns whether a member is working, or has not yet reported that it finished.
  bool working();

  // Waits at most this long for all members. Returns false if one hangs in its driver and was left running.
  bool end(double most_s);

 private:
  struct Flags {
    std::atomic<bool> returned = false;  // the device is free again
    std::atomic<bool> done = false;      // tell() has returned as well
  };
  struct Work {
    uint32_t device = 0;
    std::shared_ptr<Flags> state;
    std::thread thread;
  };
  void join_ended();

  std::mutex mutex_;
  std::vector<Work> works_;
};

}  // namespace mokume::team
