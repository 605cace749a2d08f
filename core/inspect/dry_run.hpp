// Describes a run in advance, without writing anything.
#pragma once

#include <string>
#include <vector>

#include "base/log.hpp"
#include "config/config.hpp"
#include "inspect/formations.hpp"
#include "registry/registry.hpp"

namespace mokume::inspect {

// Lists candidates, fits, bundles, memory and devices, and the expected duration in each formation.
std::string dry_run(registry::Registry& registry, base::Log& log, const config::Config& config,
                    const std::vector<Formation>& formations);

// Throws the Error that would stop a run before its first fit: the data cannot be read, the model rejects the
// experiment, a device that the configuration names is absent or too small, or run directories cannot be created.
// Returns what the caller should say in addition, or an empty text: Dataset::storage_note, and what only a run can
// check.
std::string check_start(registry::Registry& registry, base::Log& log, const config::Config& config);

}  // namespace mokume::inspect
