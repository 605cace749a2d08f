// A run directory seen from outside, during the run or afterwards: the basis of `mokume status`.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "registry/registry.hpp"
#include "results/view.hpp"
#include "run/status_file.hpp"

namespace mokume::inspect {

struct Inspection {
  std::string directory;
  results::RunView view;                   // from the journals and run.json
  std::string exit_reason;                 // from run.json
  bool live = false;                       // a process holds the directory
  std::optional<run::LiveStatus> last;     // the last status that rank 0 wrote, whether the run is live or not
  std::vector<scheduler::Bundle> bundles;  // of the last session; may be empty
  double now_s = 0;                        // seconds since the epoch
};

// Only reads, and never waits for the run. Errors are those of read_view().
Inspection inspect(registry::Registry& registry, const std::string& directory);

// "live", "dead (killed)", "stopped", "done" or "failed fits".
std::string state_of(const Inspection& run);

// "stopped on request: Ctrl-C", "stopped (node 1 was lost)": a stop with the reason that the run recorded.
std::string stop_text(const std::string& reason);

// The state with the reason of its end.
std::string ended_state(const Inspection& run);

// Suggests the next step; "" if none is needed.
std::string next_step(const Inspection& run);

// Returns whole lines.
std::string status_text(const Inspection& run);
nlohmann::ordered_json status_json(const Inspection& run);

}  // namespace mokume::inspect
