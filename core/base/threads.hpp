// Defines threads and monitors, which are either real or simulated. In a simulation, one thread runs at a time, and the
// clock advances when all threads wait.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.hpp"

namespace mokume::base {

// Combines a mutex with the condition that its owners wait for. Use it with std::unique_lock<Monitor>.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;

  // The caller holds the lock. Waits, unlocked, until `done()` is true or until the clock reaches `steady_s`, if given.
  // Calls `done` with the monitor locked, first at once and then after every change(). Returns the last result of
  // `done`.
  virtual bool wait(const std::function<bool()>& done) = 0;
  virtual bool wait_until(double steady_s, const std::function<bool()>& done) = 0;
  virtual void change() = 0;  // wakes the waiting threads; the caller may hold the lock
};

class Thread {
 public:
  virtual ~Thread() = default;  // join() or detach() must come first
  virtual void join() = 0;
  virtual void detach() = 0;
};

class Threads {
 public:
  virtual ~Threads() = default;
  virtual const Clock& clock() const = 0;
  // Starts a thread that runs `body`, which must not throw.
  virtual std::unique_ptr<Thread> start(std::function<void()> body) const = 0;
  virtual std::unique_ptr<Monitor> monitor() const = 0;
  virtual bool simulated() const { return false; }
};

const Threads& system_threads();

}  // namespace mokume::base
