// The contents of a run directory as the report presents them, and the files generated from them.
#pragma once

#include <string>

#include "registry/registry.hpp"
#include "results/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

// Reads the view of a run directory from its journal and run.json.
results::RunView read_view(registry::Registry& registry, const std::string& directory);

// Writes every file of a run directory that is derived from the journal, and returns the view used for them. `record`
// is the content of run.json, or its content to be once these files are written.
results::RunView write_report(registry::Registry& registry, const std::string& directory, const RunRecord& record);
// Uses run.json as it is. The page of a `live` run reloads itself.
results::RunView rebuild_report(registry::Registry& registry, const std::string& directory, bool live = false);

}  // namespace mokume::run
