// Predicts, for several numbers of nodes and devices, how long a run would take and how busy the devices would be,
// under the real schedule and under static splits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/fit_times.hpp"
#include "scheduler/policy.hpp"

namespace mokume::inspect {

struct Formation {
  uint32_t nodes = 0, devices = 0;  // number of nodes, and of devices per node
};

// Parses a list such as "1x3,3x1,4x3" (nodes x devices per node). Throws Error(MK_INVALID_ARGUMENT).
std::vector<Formation> parse_formations(const std::string& text);

// Returns a table of simulated runs. The refit of each bootstrap takes `refit_factor` times as long as an average fit.
std::string formations_table(const scheduler::Workload& workload, const run::Expectation& expectation,
                             double refit_factor, const std::vector<Formation>& formations);

}  // namespace mokume::inspect
