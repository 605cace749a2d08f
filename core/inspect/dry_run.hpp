// Describes what a run would do, without writing anything.
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

}  // namespace mokume::inspect
