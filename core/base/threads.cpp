#include "base/threads.hpp"

#include <condition_variable>
#include <thread>
#include <utility>

namespace mokume::base {
namespace {

class SystemMonitor final : public Monitor {
 public:
  void lock() override { mutex_.lock(); }
  void unlock() override { mutex_.unlock(); }
  void change() override { changed_.notify_all(); }

  bool wait(const std::function<bool()>& done) override {
    std::unique_lock lock(mutex_, std::adopt_lock);
    changed_.wait(lock, done);
    lock.release();  // the caller holds the lock again
    return true;
  }
  bool wait_until(double steady_s, const std::function<bool()>& done) override {
    using Time = std::chrono::steady_clock::time_point;
    const std::chrono::duration<double> since_start(steady_s);
    std::unique_lock lock(mutex_, std::adopt_lock);
    const bool is_done = changed_.wait_until(lock, Time(std::chrono::duration_cast<Time::duration>(since_start)), done);
    lock.release();
    return is_done;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class SystemThread final : public Thread {
 public:
  explicit SystemThread(std::function<void()> body) : thread_(std::move(body)) {}
  void join() override {
    if (thread_.joinable()) thread_.join();
  }
  void detach() override {
    if (thread_.joinable()) thread_.detach();
  }

 private:
  std::thread thread_;
};

class SystemThreads final : public Threads {
 public:
  const Clock& clock() const override { return system_clock(); }
  std::unique_ptr<Thread> start(std::function<void()> body) const override {
    return std::make_unique<SystemThread>(std::move(body));
  }
  std::unique_ptr<Monitor> monitor() const override { return std::make_unique<SystemMonitor>(); }
};

}  // namespace

const Threads& system_threads() {
  static const SystemThreads kThreads;
  return kThreads;
}

}  // namespace mokume::base
