// Lets another node lead a run when node 0 is lost.
#pragma once

#include <functional>
#include <string>

#include "run/run.hpp"
#include "runtime.hpp"
#include "signals.hpp"

namespace mokume::app {

// Reports that node 0 was lost, so that another node may lead.
struct LeaderLost {
  std::string directory, reason;  // the directory is "" if this node never learned it
};

// Calls `attempt` with the request. Whenever it throws LeaderLost, groups the remaining nodes anew, and calls it again
// with a request to resume the run. Returns its exit code, or kStopped if no other node may lead: a stop was requested,
// or another process still holds the run directory, as a node 0 does that is only silent.
int with_takeover(Runtime& runtime, StopWatch& watch, run::RunRequest request,
                  const std::function<int(const run::RunRequest&)>& attempt);

}  // namespace mokume::app
