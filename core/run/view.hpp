// A run directory as the report sees it, and the files that are made from that.
#pragma once

#include <string>

#include "registry/registry.hpp"
#include "report/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

// The view of a run directory, from its journal and run.json.
report::RunView read_view(registry::Registry& registry, const std::string& directory);

// Writes every file of a run directory that comes from the journal, and returns what they were made from. `record`:
// what run.json says, or will say once they are written.
report::RunView write_report(registry::Registry& registry, const std::string& directory, const RunRecord& record);
report::RunView rebuild_report(registry::Registry& registry, const std::string& directory);  // as run.json says now

}  // namespace mokume::run
