// Notices that a call does not come back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace mokume::mpi {

// A thread of its own looks ten times per limit whether one call has been under way all the while. Time in which the
// whole process was stopped counts little that way.
class Watch {
 public:
  // Calls `late` on its thread, once, after a call has taken about `limit`.
  Watch(std::chrono::milliseconds limit, std::function<void()> late);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // While one lives a call is under way; one at a time.
  class Call {
   public:
    explicit Call(Watch& watch) : watch_(watch) { watch_.turn(); }
    ~Call() { watch_.turn(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Watch& watch_;
  };

 private:
  void turn();
  void look();

  const std::chrono::milliseconds pause_;
  const std::function<void()> late_;
  std::mutex mutex_;
  std::condition_variable wake_;
  unsigned long turns_ = 0;  // odd while a call is under way
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace mokume::mpi
