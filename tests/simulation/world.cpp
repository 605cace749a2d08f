#include "simulation/world.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace mokume::simulation {

// The C++ runtime keeps the exceptions in flight per thread, so each fiber saves and restores its own.
struct Handled {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

namespace {

constexpr size_t kStackBytes = 512 << 10;
constexpr size_t kGuardBytes = 64 << 10;  // lies below a stack, so that an overflow ends the test
constexpr double kEpoch = 1.7e9;          // wall-clock time at the start of a world
constexpr double kSwitchSeconds = 2e-5;   // longest delay until a ready thread runs
constexpr double kRetrySeconds = 1e-3;    // interval at which a thread of a dead process is resumed

void swap_handled(Handled& mine) {
  Handled now;
  void* globals = abi::__cxa_get_globals();
  constexpr size_t kBytes = sizeof(void*) + sizeof(unsigned);
  std::memcpy(static_cast<void*>(&now), globals, kBytes);
  std::memcpy(globals, &mine, kBytes);
  mine = now;
}

// Reuses stacks, since mapping a stack costs more than a short simulation.
class Stacks {
 public:
  ~Stacks() {
    for (void* stack : free_) munmap(stack, kStackBytes);
  }
  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, kGuardBytes, PROT_NONE) != 0)
      throw std::runtime_error("no memory for another stack");
    return stack;
  }
  void give_back(void* stack) { free_.push_back(stack); }

 private:
  std::vector<void*> free_;
};
Stacks& stacks() {
  static Stacks all;
  return all;
}

}  // namespace

struct Fiber {
  const Process* process = nullptr;
  std::function<void()> body;
  ucontext_t context{};
  void* stack = nullptr;
  Handled handled;
  uint64_t nap = 0;  // counts calls of park(), since a late wake-up belongs to an earlier call
  bool parked = false;
  bool ended = false;
  std::vector<Fiber*> joiners;
};

struct World::Home {
  ucontext_t context{};
};

double Random::about(double mean) { return -mean * std::log1p(-share()); }

// ---- World

World::World(uint64_t seed) : random_(seed), home_(std::make_unique<Home>()) {}

World::~World() {
  for (const auto& fiber : fibers_)
    if (fiber->stack != nullptr) stacks().give_back(fiber->stack);
}

bool World::Event::operator>(const Event& other) const {
  return std::tie(time, order, number) > std::tie(other.time, other.order, other.number);
}

void World::post(double time, Fiber* fiber, uint64_t nap, std::shared_ptr<std::function<void()>> action) {
  if (std::isinf(time)) return;
  const auto order = static_cast<uint64_t>(random_.below(1U << 20U));
  events_.push({std::max(time, now_), order, events_posted_++, fiber, nap, std::move(action)});
}

void World::at(double time, std::function<void()> action) {
  post(time, nullptr, 0, std::make_shared<std::function<void()>>(std::move(action)));
}

void World::enter(unsigned high, unsigned low) {
  auto* fiber = reinterpret_cast<Fiber*>(uintptr_t{high} << 32U | uintptr_t{low});
  fiber->body();
  fiber->body = nullptr;
  World& world = fiber->process->world();
  fiber->ended = true;
  for (Fiber* joiner : fiber->joiners) world.wake(joiner);
  swap_handled(fiber->handled);
  setcontext(&world.home_->context);
}

Fiber* World::spawn(const Process* process, std::function<void()> body) {
  fibers_.push_back(std::make_unique<Fiber>());
  Fiber* fiber = fibers_.back().get();
  fiber->process = process;
  fiber->body = std::move(body);
  fiber->stack = stacks().take();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->context.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(fiber);
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&World::enter), 2, static_cast<unsigned>(address >> 32U),
              static_cast<unsigned>(address));
  fiber->parked = true;
  wake(fiber);
  return fiber;
}

const Process* World::process() const { return running_ == nullptr ? nullptr : running_->process; }

void World::park(double time) {
  Fiber* self = running_;
  ++self->nap;
  self->parked = true;
  if (self->process->dead()) time = std::min(time, now_ + kRetrySeconds);
  post(time, self, self->nap, nullptr);
  swap_handled(self->handled);
  swapcontext(&self->context, &home_->context);
}

void World::sleep_until(double time) {
  while (now_ < time && !process()->dead()) park(time);
}

void World::wake(Fiber* fiber) {
  if (fiber->parked) post(now_ + random_.between(0, kSwitchSeconds), fiber, fiber->nap, nullptr);
}

void World::wake_all(const Process* process) {
  for (const auto& fiber : fibers_)
    if (fiber->process == process && !fiber->ended) wake(fiber.get());
}

void World::resume(Fiber* fiber) {
  fiber->parked = false;
  running_ = fiber;
  ++switches_;
  swapcontext(&home_->context, &fiber->context);
  running_ = nullptr;
  if (fiber->ended && fiber->stack != nullptr) {
    stacks().give_back(fiber->stack);
    fiber->stack = nullptr;
  }
}

bool World::run(double limit, const std::function<bool()>& done) {
  while (!done()) {
    if (events_.empty() || events_.top().time > limit) return false;
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    if (event.fiber == nullptr) {
      (*event.action)();
      continue;
    }
    Fiber* fiber = event.fiber;
    if (fiber->ended || !fiber->parked || event.nap != fiber->nap) continue;
    const Process& process = *fiber->process;
    if (!process.dead() && process.frozen_until() > now_) {
      post(process.frozen_until(), fiber, event.nap, nullptr);
      continue;
    }
    // Gives the fiber's exceptions to the thread; park() and the fiber's end exchange them back.
    swap_handled(fiber->handled);
    resume(fiber);
  }
  return true;
}

// ---- Process

void Process::die() {
  dead_ = true;
  world_.wake_all(this);
}

double Process::wall_s() const { return kEpoch + world_.now() + wall_offset_; }
double Process::steady_s() const { return world_.now(); }

namespace {

class SimulatedThread : public base::Thread {
 public:
  SimulatedThread(World& world, Fiber* fiber) : world_(world), fiber_(fiber) {}
  void join() override {
    if (fiber_ == nullptr || fiber_->ended) return;
    fiber_->joiners.push_back(world_.running());
    while (!fiber_->ended) world_.park(kNever);
  }
  void detach() override { fiber_ = nullptr; }

 private:
  World& world_;
  Fiber* fiber_;
};

// No other thread runs between lock() and unlock(), except in a wait.
class SimulatedMonitor : public base::Monitor {
 public:
  explicit SimulatedMonitor(World& world) : world_(world) {}

  void lock() override {
    if (locked_) throw std::logic_error("a simulated thread waits while it holds a monitor");
    locked_ = true;
  }
  void unlock() override { locked_ = false; }
  bool wait(const std::function<bool()>& done) override { return wait_until(kNever, done); }
  bool wait_until(double steady_s, const std::function<bool()>& done) override {
    while (!done()) {
      if (world_.now() >= steady_s) return false;
      locked_ = false;
      waiting_.push_back(world_.running());
      world_.park(steady_s);
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), world_.running()));
      lock();
    }
    return true;
  }
  void change() override {
    for (Fiber* fiber : waiting_) world_.wake(fiber);
  }

 private:
  World& world_;
  bool locked_ = false;
  std::vector<Fiber*> waiting_;
};

}  // namespace

std::unique_ptr<base::Thread> Process::start(std::function<void()> body) const {
  return std::make_unique<SimulatedThread>(world_, world_.spawn(this, std::move(body)));
}

std::unique_ptr<base::Monitor> Process::monitor() const { return std::make_unique<SimulatedMonitor>(world_); }

}  // namespace mokume::simulation
