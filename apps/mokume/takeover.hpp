// Lets another node lead a run when node 0 is lost.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "run/run.hpp"
#include "runtime.hpp"
#include "sdk/error.hpp"

namespace mokume::app {

// Reports that node 0 was lost, so that another node may lead.
class NeedsLeader : public Error {
 public:
  // The directory of the run is "" if this node never learned it.
  NeedsLeader(std::string directory, const std::string& reason)
      : Error(MK_CANCELLED, reason), directory_(std::move(directory)) {}
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

// Calls `attempt` with the request. Whenever it throws NeedsLeader, groups the remaining nodes anew, and calls it again
// with a request to resume the run. Returns its exit code, or kStopped if the transport cannot group nodes anew.
int with_takeover(Runtime& runtime, run::RunRequest request, const std::function<int(const run::RunRequest&)>& attempt);

}  // namespace mokume::app
