// A run directory seen from outside, while a run works on it or afterwards: what `mokume status` shows.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "registry/registry.hpp"
#include "report/view.hpp"
#include "run/status_file.hpp"

namespace mokume::inspect {

struct Inspection {
  std::string directory;
  report::RunView view;                    // from journals and run.json
  std::string exit_reason;                 // as run.json has it
  bool live = false;                       // a process holds the directory
  std::optional<run::LiveStatus> last;     // what rank 0 wrote last, be it live or not
  std::vector<scheduler::Bundle> bundles;  // of the last session; may be empty
  double now_s = 0;                        // seconds since the epoch
};

// Reads only, and never waits for the run. Error as from read_view().
Inspection inspect(registry::Registry& registry, const std::string& directory);

// "live", "dead (killed)", "stopped", "done" or "failed fits".
std::string state_of(const Inspection& run);

// Advises what to do next; "" if nothing is needed.
std::string next_step(const Inspection& run);

// Whole lines.
std::string status_text(const Inspection& run);
nlohmann::ordered_json status_json(const Inspection& run);

}  // namespace mokume::inspect
