// Describes the fits of an experiment to the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "node/experiment.hpp"
#include "scheduler/policy.hpp"
#include "search/plan.hpp"

namespace mokume::run {

// Returns the position of each fit of the plan in the parameter space. The position of a value in a list is its rank
// among the list's values; that of a value from a distribution is relative to the bounds, on a log scale if the value
// was drawn on one. `spaces` are those of the plan's parameters.
std::vector<scheduler::Position> positions_of(const search::Plan& plan, const std::vector<search::Space>& spaces);

// Returns the number of training rows of a refit divided by that of a fit.
double refit_factor(const config::Config& config);

// For several devices, bundles are the finest that the model proposes; for one device, they are the coarsest, whose
// fits share work. All bundles from the same coarsest bundle have its index as their affinity. If folds have inputs of
// their own, all bundles of a fold have equal affinity.
constexpr size_t kSeveralDevices = 2;
scheduler::Workload workload_of(const node::Experiment& experiment, size_t devices);

}  // namespace mokume::run
