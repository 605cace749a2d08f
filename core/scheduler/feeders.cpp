#include "scheduler/feeders.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mokume::scheduler {

struct Feeders::State {
  struct Lane {
    std::deque<Job> jobs;
    std::condition_variable wake;
    std::thread thread;
  };

  State(uint32_t n_devices, Ended on_ended)
      : arena(static_cast<int>(std::max(1u, n_devices)), std::max(1u, n_devices)),
        ended(std::move(on_ended)),
        lanes(n_devices) {}

  void loop(uint32_t device) {
    Lane& lane = lanes[device];
    while (true) {
      Job job;
      {
        std::unique_lock lock(mutex);
        lane.wake.wait(lock, [&] { return stopping || !lane.jobs.empty(); });
        if (stopping) return;
        job = std::move(lane.jobs.front());
        lane.jobs.pop_front();
      }
      std::exception_ptr error;
      try {
        job();
      } catch (...) {
        error = std::current_exception();
      }
      job = nullptr;  // frees what the job holds before anyone learns that it ended
      ended(device, error);
    }
  }

  tbb::task_arena arena;
  Ended ended;
  std::mutex mutex;
  bool stopping = false;
  std::vector<Lane> lanes;
};

Feeders::Feeders(uint32_t n_devices, Ended ended) : state_(std::make_shared<State>(n_devices, std::move(ended))) {
  for (uint32_t device = 0; device < n_devices; ++device) {
    state_->lanes[device].thread =
        std::thread([state = state_, device] { state->arena.execute([&] { state->loop(device); }); });
  }
}

Feeders::~Feeders() { stop(); }

void Feeders::push(uint32_t device, Job job) {
  const std::lock_guard lock(state_->mutex);
  State::Lane& lane = state_->lanes.at(device);
  lane.jobs.push_back(std::move(job));
  lane.wake.notify_one();
}

void Feeders::end_loops() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  for (State::Lane& lane : state_->lanes) lane.wake.notify_one();
}

void Feeders::stop() {
  end_loops();
  for (State::Lane& lane : state_->lanes) {
    if (lane.thread.joinable()) lane.thread.join();
  }
}

void Feeders::abandon() {
  end_loops();
  for (State::Lane& lane : state_->lanes) {
    if (lane.thread.joinable()) lane.thread.detach();
  }
}

}  // namespace mokume::scheduler
