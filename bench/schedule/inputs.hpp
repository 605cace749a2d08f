// The inputs of the schedule benchmark: workloads with the real times of their fits.
#pragma once

#include <string>
#include <vector>

#include "scheduler/simulate.hpp"

namespace mokume::bench {

// Devices of equal or different speeds, as a probe might see them, 30 % off.
std::vector<scheduler::SimulatedUnit> devices(size_t count, const std::vector<double>& speeds = {1});

// The SVC grid from recorded times (svc-grid-times.csv: gamma,C,fold,seconds). Bundles are gamma x fold, or whole
// gammas; each is cut into `parts` equal ones with the same times, as if a fit could be split by class (no run does
// that). The policy receives the SVC plugin's guess.
scheduler::Scenario svc_grid(const std::string& csv, bool whole_gammas, uint32_t parts = 1);

// The networks of network-weights.csv (bootstrap,candidate,weights), 5 folds, batches of 10 of 60,000 rows. A step
// moves 20 bytes a weight through memory; the number of epochs, at most 20, is drawn with `seed` and unknown to the
// policy, which expects all 20. `refits`: the best candidate of each bootstrap, also drawn, is trained on all rows.
scheduler::Scenario networks(const std::string& csv, bool refits, uint64_t seed);

}  // namespace mokume::bench
