// The fits of an experiment as the scheduler sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "node/experiment.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::run {

// Where each fit of the plan stands: a value of a list by its position in the order of the list's values, a value of a
// distribution by its position between the ends, on a log scale where it was drawn on one. `spaces` are those of the
// plan's parameters.
std::vector<scheduler::Position> positions_of(const search::Plan& plan, const std::vector<search::Space>& spaces);

// How many times the rows of a fit a refit trains on.
double refit_factor(const config::Config& config);

// For several devices bundles are the finest bundles that the model proposes, for one device the coarsest: what shares
// work. Bundles of one of the coarsest bundles have one affinity, which is the index of that bundle.
constexpr size_t kSeveralDevices = 2;
scheduler::Workload workload_of(const node::Experiment& experiment, size_t devices);

}  // namespace mokume::run
