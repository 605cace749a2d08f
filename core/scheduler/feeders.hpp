// Runs one thread per device of this node. A feeder blocks inside its driver, so it has its own thread in an arena
// whose slots are all reserved for feeders. It thus takes no worker from parallel_for's arena, and code in a driver
// that uses TBB stays on its feeder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/threads.hpp"

namespace mokume::scheduler {

class Feeders {
 public:
  using Job = std::function<void()>;

  explicit Feeders(uint32_t n_devices, const base::Threads& threads = base::system_threads());
  ~Feeders();  // calls stop()
  Feeders(const Feeders&) = delete;
  Feeders& operator=(const Feeders&) = delete;

  // Runs `job`, which must not throw, on the device's thread after earlier jobs. Any thread may call it, even a job.
  void push(uint32_t device, Job job);

  // Drops jobs that have not started, waits for running jobs, and ends the threads. Must not be called from a job.
  void stop();

  // Does the same as stop() without waiting for running jobs, which may hang inside a driver and never return.
  // Everything that they use must live until the process ends.
  void abandon();

 private:
  struct State;
  void end_loops();
  std::shared_ptr<State> state_;  // shared with the threads, so that an abandoned thread keeps it alive
};

}  // namespace mokume::scheduler
