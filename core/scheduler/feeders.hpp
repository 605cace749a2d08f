// One thread per device of this node. A feeder blocks inside its driver, so it is a thread of its own in an arena
// whose slots are all reserved for feeders: it takes no worker away from parallel_for's arena, and code that uses TBB
// behind a driver's back stays on its feeder.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

namespace mokume::scheduler {

class Feeders {
 public:
  using Job = std::function<void()>;
  // Called on the feeder's thread when a job has ended; `error` is what it threw, or null. Must not throw.
  using Ended = std::function<void(uint32_t device, std::exception_ptr error)>;

  Feeders(uint32_t n_devices, Ended ended);
  ~Feeders();  // stop()
  Feeders(const Feeders&) = delete;
  Feeders& operator=(const Feeders&) = delete;

  // Runs `job` on the device's thread after what was pushed before. From any thread, `ended` and jobs included.
  void push(uint32_t device, Job job);

  // Drops the jobs that have not started (their `ended` is not called), waits for those that have, ends the threads.
  // Not from a job.
  void stop();

  // As stop(), but what runs goes on unwatched: for jobs that hang inside a driver and will never return. Whatever they
  // use must then live until the process ends.
  void abandon();

 private:
  struct State;
  void end_loops();
  std::shared_ptr<State> state_;  // shared with the threads: an abandoned one keeps it
};

}  // namespace mokume::scheduler
