#include "takeover.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "commands.hpp"

namespace mokume::app {
namespace {

// Longer than most work takes to end after it is cancelled. A node that takes longer is left out.
constexpr uint32_t kRegroupMs = 60000;

}  // namespace

int with_takeover(Runtime& runtime, run::RunRequest request,
                  const std::function<int(const run::RunRequest&)>& attempt) {
  cluster::Transport& transport = runtime.transport();
  while (true) {
    std::string directory, reason;
    try {
      return attempt(request);
    } catch (const NeedsLeader& lost) {
      directory = lost.directory();
      reason = lost.what();
    }
    request.takeover = {base::wall_s(), ""};
    const uint32_t number = transport.rank();
    // Even if this node was asked to stop, it must be able to tell the others.
    if (!transport.regroup(kRegroupMs)) {
      runtime.log().write(MK_LOG_ERROR, "run", reason);
      return kStopped;
    }
    if (!directory.empty()) {
      request.directory = directory;
      request.fresh = false;
    }
    if (transport.rank() == 0)
      request.takeover->text = fmt::format("{}; node {} leads the run from here on, as node 0", reason, number);
  }
}

}  // namespace mokume::app
