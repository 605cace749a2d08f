#include "scheduler/feeders.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace mokume::scheduler {

struct Feeders::State {
  struct Lane {
    std::unique_ptr<base::Monitor> monitor;  // changes when a job arrives or the lane stops
    std::deque<Job> jobs;
    bool stopping = false;
    std::unique_ptr<base::Thread> thread;
  };

  explicit State(uint32_t n_devices)
      : arena(static_cast<int>(std::max(1u, n_devices)), std::max(1u, n_devices)), lanes(n_devices) {}

  void loop(uint32_t device) {
    Lane& lane = lanes[device];
    while (true) {
      Job job;
      {
        const std::lock_guard lock(*lane.monitor);
        lane.monitor->wait([&] { return lane.stopping || !lane.jobs.empty(); });
        if (lane.stopping) return;
        job = std::move(lane.jobs.front());
        lane.jobs.pop_front();
      }
      job();
    }
  }

  tbb::task_arena arena;
  std::vector<Lane> lanes;
};

Feeders::Feeders(uint32_t n_devices, const base::Threads& threads) : state_(std::make_shared<State>(n_devices)) {
  for (State::Lane& lane : state_->lanes) lane.monitor = threads.monitor();
  for (uint32_t device = 0; device < n_devices; ++device) {
    state_->lanes[device].thread = threads.start([state = state_, device, simulated = threads.simulated()] {
      if (simulated) return state->loop(device);
      state->arena.execute([&] { state->loop(device); });
    });
  }
}

Feeders::~Feeders() { stop(); }

void Feeders::push(uint32_t device, Job job) {
  State::Lane& lane = state_->lanes.at(device);
  const std::lock_guard lock(*lane.monitor);
  lane.jobs.push_back(std::move(job));
  lane.monitor->change();
}

void Feeders::end_loops() {
  for (State::Lane& lane : state_->lanes) {
    const std::lock_guard lock(*lane.monitor);
    lane.stopping = true;
    lane.monitor->change();
  }
}

void Feeders::stop() {
  end_loops();
  for (State::Lane& lane : state_->lanes) lane.thread->join();
}

void Feeders::abandon() {
  end_loops();
  for (State::Lane& lane : state_->lanes) lane.thread->detach();
}

}  // namespace mokume::scheduler
