// The state of a run directory, during the run or afterwards. `mokume status` is based on it.
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
  results::RunView view;                   // read from the journals and run.json
  std::string exit_reason;                 // read from run.json
  bool live = false;                       // whether a process holds the directory
  std::optional<run::LiveStatus> last;     // the last status that rank 0 wrote, whether the run is live or not
  std::vector<scheduler::Bundle> bundles;  // bundles of the last session; may be empty
  double now_s = 0;                        // seconds since the epoch
};

// Only reads, and never waits for the run. Throws the errors of read_view().
Inspection inspect(registry::Registry& registry, const std::string& directory);

// Returns "live", "dead (killed)", "stopped", "done" or "failed fits".
std::string state_of(const Inspection& run);

// Returns the stop and its recorded reason: "stopped on request: Ctrl-C", "stopped (node 1 was lost)".
std::string stop_text(const std::string& reason);

// Returns the state and the reason of the end.
std::string ended_state(const Inspection& run);

// Suggests the next step; "" if none is needed.
std::string next_step(const Inspection& run);

// Returns whole lines.
std::string status_text(const Inspection& run);
nlohmann::ordered_json status_json(const Inspection& run);

}  // namespace mokume::inspect
