// Simulates successive halving with the coordinator and the decisions of real runs.
#pragma once

#include <cstdint>

#include "scheduler/simulate.hpp"

namespace mokume::bench {

// Returns the efficiency of a search in three rungs with factor 4 on the units of `search`, whose times are those of
// the last rung. A rung takes a quarter of the time of the next one, and the losses of the candidates are drawn with
// `seed`.
double efficiency_in_rungs(const scheduler::Scenario& search, uint64_t seed);

}  // namespace mokume::bench
