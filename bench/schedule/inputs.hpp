// Defines the inputs of the schedule benchmark: workloads with the times of their fits.
#pragma once

#include <string>
#include <vector>

#include "scheduler/simulate.hpp"

namespace mokume::bench {

// Returns devices of equal or different speeds. The policy sees speeds with an error of up to 30%, as from a probe.
std::vector<scheduler::SimulatedUnit> devices(size_t count, const std::vector<double>& speeds = {1});

// Returns the SVC grid with recorded times (svc-grid-times.csv: gamma,C,fold,seconds). A bundle is a gamma and a fold,
// or a whole gamma, cut into `parts` with equal times, as if a fit could be split by class (no run does that). The
// policy receives the SVC plugin's estimate.
scheduler::Scenario svc_grid(const std::string& csv, bool whole_gammas, uint32_t parts = 1);

// Returns the networks of network-weights.csv (bootstrap,candidate,weights) with 5 folds and batches of 10 of 60,000
// rows. A step moves 20 bytes per weight through memory. The number of epochs, at most 20, is drawn with `seed`; the
// policy does not know it and expects 20 epochs. With `refits`, the best candidate of each bootstrap, which is also
// drawn, is trained on all rows.
scheduler::Scenario networks(const std::string& csv, bool refits, uint64_t seed);

}  // namespace mokume::bench
