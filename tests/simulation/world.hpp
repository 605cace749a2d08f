// Simulates a machine room: processes whose threads run one at a time, on a clock that advances when all of them wait.
// Every event is a function of the seed, so a failure can be replayed.
//
// A simulated thread is a fiber (ucontext). It yields the processor only where it waits. Fibers that could run at the
// same moment run in an order drawn from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "base/threads.hpp"

namespace mokume::simulation {

class World;
class Process;
struct Fiber;

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // returns a number in [0, 1)
  bool chance(double p) { return share() < p; }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(share() * n); }
  double between(double low, double high) { return low + share() * (high - low); }
  double about(double mean);  // returns an exponentially distributed number

 private:
  std::mt19937_64 engine_;
};

// Provides the threads and the clocks of a process.
class Process : public base::Threads, public base::Clock {
 public:
  Process(World& world, std::string name) : world_(world), name_(std::move(name)) {}

  World& world() const { return world_; }
  const std::string& name() const { return name_; }

  // From now on, the process no longer reaches its disk or the network. Its fibers end by themselves: every wait
  // returns at once, and every operation reports an error.
  void die();
  bool dead() const { return dead_; }
  void freeze(double until) { frozen_until_ = until; }
  double frozen_until() const { return frozen_until_; }
  void step_wall_clock(double seconds) { wall_offset_ += seconds; }

  // ---- base::Threads
  const base::Clock& clock() const override { return *this; }
  std::unique_ptr<base::Thread> start(std::function<void()> body) const override;
  std::unique_ptr<base::Monitor> monitor() const override;
  bool simulated() const override { return true; }
  // ---- base::Clock
  double wall_s() const override;
  double steady_s() const override;

 private:
  World& world_;
  std::string name_;
  bool dead_ = false;
  double frozen_until_ = 0;
  double wall_offset_ = 0;
};

class World {
 public:
  explicit World(uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Random& random() { return random_; }
  double now() const { return now_; }

  Fiber* spawn(const Process* process, std::function<void()> body);
  void at(double time, std::function<void()> action);  // an action must not wait

  // Runs until `done()`, or until no event is left before `limit`. Returns whether it was done.
  bool run(double limit, const std::function<bool()>& done);

  // ---- for the running fiber

  Fiber* running() const { return running_; }
  const Process* process() const;  // process of the running fiber; null outside all fibers
  void sleep_until(double time);   // returns early if the process dies
  // Waits until wake() is called with this fiber or `time` is reached.
  void park(double time);
  void wake(Fiber* fiber);
  void wake_all(const Process* process);

  uint64_t switches() const { return switches_; }

 private:
  struct Event {
    double time;
    uint64_t order;  // drawn to order events of the same time
    uint64_t number;
    Fiber* fiber;  // may be null
    uint64_t nap;  // number of the park() that it ends
    std::shared_ptr<std::function<void()>> action;
    bool operator>(const Event& other) const;
  };

  void post(double time, Fiber* fiber, uint64_t nap, std::shared_ptr<std::function<void()>> action);
  void resume(Fiber* fiber);
  static void enter(unsigned high, unsigned low);

  Random random_;
  double now_ = 1000;
  uint64_t events_posted_ = 0, switches_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
  struct Home;  // context of run()
  std::unique_ptr<Home> home_;
};

}  // namespace mokume::simulation
