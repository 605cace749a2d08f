// Reads the state of a run directory for `mokume status`, during the run or afterwards.
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
  results::RunView view;                   // run.json and the journals
  std::string exit_reason;                 // reason why the run ended, from run.json
  bool live = false;                       // a process holds the directory
  std::optional<run::LiveStatus> last;     // the last status that rank 0 wrote, whether the run is live or not
  std::vector<scheduler::Bundle> bundles;  // bundles of the last session; may be empty
  double now_s = 0;                        // seconds since the epoch
};

// Only reads, and never waits for the run. Throws the errors of read_view().
Inspection inspect(registry::Registry& registry, const std::string& directory);

// Returns "live", "dead (killed)", "stopped", "done" or "failed fits".
std::string state_of(const Inspection& run);

// Returns the state of a run that stopped, such as "stopped on request: Ctrl-C" or "stopped (node 1 was lost)".
std::string stop_text(const std::string& reason);

// Returns the state and, after the end, the reason why the run ended.
std::string ended_state(const Inspection& run);

// Returns a hint for the next step, or "" if none is needed.
std::string next_step(const Inspection& run);

// Returns whole lines.
std::string status_text(const Inspection& run);
nlohmann::ordered_json status_json(const Inspection& run);

}  // namespace mokume::inspect
