#include "takeover.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "commands.hpp"
#include "run/run_directory.hpp"

namespace mokume::app {
namespace {

// Longer than most work takes to end after it is cancelled. A node that takes longer is left out.
constexpr uint32_t kRegroupMs = 60000;

// A file server may keep the lock of a host without power for the time of a lease, which is 90 s by default in NFS 4.
constexpr double kLockSeconds = 120;
constexpr std::chrono::milliseconds kLookAgain(500);

// Returns whether no process holds the run directory any more. A node 0 that this node cannot reach may still work.
bool is_free(const std::string& directory, const StopWatch& watch) {
  const double deadline = base::steady_s() + kLockSeconds;
  while (!directory.empty() && run::is_held(directory)) {
    if (watch.stop() || base::steady_s() >= deadline) return false;
    std::this_thread::sleep_for(kLookAgain);
  }
  return true;
}

}  // namespace

int with_takeover(Runtime& runtime, StopWatch& watch, run::RunRequest request,
                  const std::function<int(const run::RunRequest&)>& attempt) {
  while (true) {
    LeaderLost lost;
    try {
      return attempt(request);
    } catch (const LeaderLost& caught) {
      lost = caught;
    }
    const uint32_t number = runtime.transport().rank();
    const auto give_up = [&](const std::string& why) {
      runtime.log().write(MK_LOG_ERROR, "run", fmt::format("node {} ends: {}{}", number, lost.reason, why));
      return kStopped;
    };
    if (watch.stop() || !runtime.transport().regroup(kRegroupMs)) return give_up("");
    if (!lost.directory.empty()) {
      request.directory = lost.directory;
      request.fresh = false;
    }
    if (runtime.transport().rank() != 0) continue;
    if (!is_free(lost.directory, watch)) return give_up(", but a process still works on " + lost.directory);
    request.takeover = fmt::format("{}; node {} leads the run from here on, as node 0", lost.reason, number);
  }
}

}  // namespace mokume::app
