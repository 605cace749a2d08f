// Planning the machine room: how long a run would take on so many nodes with so many devices, and how busy they would
// be, under the schedule of real runs and under static splits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/fit_times.hpp"
#include "scheduler/policy.hpp"

namespace mokume::inspect {

struct Formation {
  uint32_t nodes = 0, devices = 0;  // of each node
};

// "1x3,3x1,4x3". Throws Error(MK_INVALID_ARGUMENT).
std::vector<Formation> parse_formations(const std::string& text);

// The table for people, simulated. A refit ends each bootstrap, of a candidate that takes as long as they do on
// average: `refit_factor` times one of its fits.
std::string formations_table(const scheduler::Workload& workload, const run::Expectation& expectation,
                             double refit_factor, const std::vector<Formation>& formations);

}  // namespace mokume::inspect
