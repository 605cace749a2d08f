#include "experiment/watched_refit.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "cluster/failures.hpp"
#include "cluster/listening.hpp"
#include "sdk/error.hpp"

namespace mokume::experiment {
namespace {

constexpr std::chrono::milliseconds k_glance(50);

// Shared with the thread of the work, which may outlive the watch.
struct Attempt {
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable over_now;
  std::string what;
  double share = 0;
  bool alive = false;  // since the last glance
  bool over = false;
  std::optional<journal::RefitRecord> record;
  std::exception_ptr error;
};

void run_attempt(Attempt& attempt, const RefitWork& work) {
  std::optional<journal::RefitRecord> record;
  std::exception_ptr error;
  const auto progress = [&](const std::string& what, double share) {
    const std::lock_guard lock(attempt.mutex);
    attempt.what = what;
    attempt.share = share;
    attempt.alive = true;
  };
  try {
    record = work(progress, attempt.stop);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(attempt.mutex);
  attempt.record = std::move(record);
  attempt.error = std::exchange(error, nullptr);
  attempt.over = true;
  attempt.over_now.notify_one();
}

// Whether it is over within the time of a glance; what it has said since the last one.
bool glance(Attempt& attempt, std::optional<std::pair<std::string, double>>& said) {
  std::unique_lock lock(attempt.mutex);
  attempt.over_now.wait_for(lock, k_glance, [&] { return attempt.over; });
  said.reset();
  if (std::exchange(attempt.alive, false)) said.emplace(attempt.what, attempt.share);
  return attempt.over;
}

}  // namespace

std::optional<journal::RefitRecord> watch_refit(const RefitWork& work, const std::function<bool()>& break_off,
                                                const RefitWatch& watch) {
  const auto attempt = std::make_shared<Attempt>();
  std::thread thread([attempt, work] { run_attempt(*attempt, work); });
  cluster::Listening listening;
  double sign_at = listening.turn(watch.now());
  std::optional<double> broken_off_at;
  std::optional<std::pair<std::string, double>> said;
  while (!glance(*attempt, said)) {
    const double now = listening.turn(watch.now());
    if (watch.stop()) attempt->stop = true;
    if (said) {
      sign_at = now;
      watch.progress(said->first, said->second);
    }
    // Predicting the test rows gives no sign: it may take as long as the training before it.
    if (now - sign_at <= std::max(watch.hang_s, sign_at)) continue;
    if (!broken_off_at && break_off()) broken_off_at = now;
    if (broken_off_at && now - *broken_off_at <= cluster::k_break_off_s) continue;
    attempt->stop = true;
    thread.detach();
    watch.on_left_behind();
    return std::nullopt;
  }
  thread.join();
  if (attempt->error) std::rethrow_exception(std::exchange(attempt->error, nullptr));
  return std::move(attempt->record);
}

journal::RefitRecord refit_on_one_of(Worker& worker, const std::vector<uint32_t>& devices, uint32_t candidate,
                                     const RefitWatch& watch, base::Log& log) {
  std::deque<uint32_t> next(devices.begin(), devices.end());
  for (uint32_t failures = 0;;) {
    const uint32_t device = next.front();
    next.pop_front();
    const auto work = [&worker, device, candidate](const StepProgress& progress, const std::atomic<bool>& stop) {
      return worker.refit(device, candidate, progress, stop);
    };
    std::string failure;
    try {
      if (auto record = watch_refit(
              work, [&] { return worker.kill(device); }, watch))
        return std::move(*record);
      failure = worker.devices()[device].id + ": the refit gave no sign of life any more";
    } catch (const Error& e) {
      if (e.status() != MK_DEVICE_ERROR) throw;
      failure = e.what();
      next.push_back(device);
    }
    if (watch.stop()) throw Error(MK_CANCELLED, "stopped during the refit");
    if (++failures == cluster::Failures::k_most || next.empty()) throw Error(MK_DEVICE_ERROR, failure);
    log.warn("refit", failure + "; it is tried again");
  }
}

}  // namespace mokume::experiment
