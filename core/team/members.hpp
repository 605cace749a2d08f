// Runs the members of a team on this node, except the leader. Each member works in its own thread.
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

  // Runs `work` and then `tell` in a thread for a device. Returns false if the device is busy with abandoned work.
  bool start(uint32_t device, std::function<void()> work, std::function<void()> tell);

  // Returns whether a member is working or has not reported its end yet.
  bool working();

  // Waits at most `most_s` seconds for all members. Returns false if a member hangs in its driver and was left running.
  bool end(double most_s);

 private:
  struct Flags {
    std::atomic<bool> returned = false;  // set when the device is free again
    std::atomic<bool> done = false;      // set when tell() has returned as well
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
