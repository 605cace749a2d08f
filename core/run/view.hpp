// Reads the results in a run directory, and writes the tables that show them.
#pragma once

#include <string>

#include "registry/registry.hpp"
#include "results/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

// Reads the view of a run directory from its journal and run.json.
results::RunView read_view(registry::Registry& registry, const std::string& directory);

// Writes the tables of a run directory from its journal, and returns the view that they show. `record` is the current
// content of run.json, or its content once all derived files are written.
results::RunView write_tables(registry::Registry& registry, const std::string& directory, const RunRecord& record);
// Uses run.json as it is.
results::RunView write_tables(registry::Registry& registry, const std::string& directory);

}  // namespace mokume::run
