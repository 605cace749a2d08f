// Threads and monitors, either real or simulated. In a simulation, one thread runs at a time, and the clock advances
// when all threads wait.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.hpp"

namespace mokume::base {

// A mutex together with the condition that its owners wait for. Use it with std::unique_lock<Monitor>.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;

  // Called with the monitor locked. Waits, unlocked, until `done()` is true or, if given, until the clock reaches
  // `steady_s`. Calls `done` with the monitor locked, first at once, then after every change(). Returns the last
  // result.
  virtual bool wait(const std::function<bool()>& done) = 0;
  virtual bool wait_until(double steady_s, const std::function<bool()>& done) = 0;
  virtual void change() = 0;  // wakes the waiting threads; the caller may hold the lock
};

class Thread {
 public:
  virtual ~Thread() = default;  // call join or detach first
  virtual void join() = 0;
  virtual void detach() = 0;
};

class Threads {
 public:
  virtual ~Threads() = default;
  virtual const Clock& clock() const = 0;
  // `body` must not throw.
  virtual std::unique_ptr<Thread> start(std::function<void()> body) const = 0;
  virtual std::unique_ptr<Monitor> monitor() const = 0;
  virtual bool simulated() const { return false; }
};

const Threads& system_threads();

}  // namespace mokume::base
