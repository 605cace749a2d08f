// The candidates of an experiment before any device is involved: what each of them is, what it costs, and which fits
// share a bundle.
#pragma once

#include <string>

#include "abi/model.h"
#include "network.hpp"
#include "sdk/team.hpp"

namespace mokume::cnn {

inline bool classifies(const mk_experiment& experiment) { return experiment.train->n_classes > 0; }

// Error(MK_INVALID_ARGUMENT).
Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate);
Network candidate_network(const mk_experiment& experiment, const Settings& settings);

// How many networks of this shape are trained in one stack: enough for their steps to be much more work than what a
// launch costs.
size_t stack_size(const Settings& settings, const Network& network);

// Throws what the schema cannot express: a network that does not fit the data, a batch larger than the data.
void check(const mk_experiment& experiment);
// Whether every fit has rows for a batch of this team. Error(MK_INVALID_ARGUMENT).
void check_batches(const mk_experiment& experiment, const sdk::Team& team);

// Bundles of fits whose networks have one shape, as many as keep a device busy; if there are fewer than
// `wanted`, each fit is a bundle.
void make_bundles(const mk_experiment& experiment, uint32_t wanted, const mk_bundle_sink& sink);

// A candidate's table of layers.
std::string summary(const mk_experiment& experiment, uint32_t candidate);

}  // namespace mokume::cnn
