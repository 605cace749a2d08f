// Determines the settings, networks, costs and bundles of an experiment's candidates, before any device is involved.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "network/network.hpp"
#include "sdk/plugin.hpp"
#include "sdk/team.hpp"

namespace mokume::cnn {

inline bool classifies(const mk_experiment& experiment) { return experiment.train->n_classes > 0; }

// Both functions throw Error(MK_INVALID_ARGUMENT) for invalid settings.
Settings candidate_settings(const mk_experiment& experiment, uint32_t candidate);
Network candidate_network(const mk_experiment& experiment, const Settings& settings);

// Returns the weight of each row's error in a fit of `fold` and `sample`: the row's own weight times that of its class.
// Returns {} if all are 1. Throws Error(MK_INVALID_ARGUMENT) if class_weight names an unknown class.
std::vector<float> row_weights(const mk_experiment& experiment, const Settings& settings, uint32_t sample,
                               int32_t fold);

// Returns the number of networks of this shape in a stack: enough that a step takes far longer than its launches.
size_t stack_size(const Settings& settings, const Network& network);

// Returns the content of the file that a candidate starts with, or "" without a file.
std::string_view start_bytes(const mk_experiment& experiment, const Settings& settings);

// Throws an Error if the experiment violates a rule that the schema cannot express, such as a network that does not fit
// the data, or a batch larger than the data.
void check(const sdk::Host& host, const mk_experiment& experiment);
// Throws Error(MK_INVALID_ARGUMENT) unless every fit has enough rows for a batch of this team.
void check_batches(const mk_experiment& experiment, const sdk::Team& team);

// Puts as many fits with networks of one shape into a bundle as keep a device busy. Makes a bundle of each fit if there
// would be fewer than `wanted` bundles.
void make_bundles(const mk_experiment& experiment, uint32_t wanted, const mk_bundle_sink& sink);

// Describe the network of a candidate: see network/description.hpp.
std::string summary(const mk_experiment& experiment, uint32_t candidate);
void steps(const mk_experiment& experiment, uint32_t candidate, const std::function<void(const mk_step&)>& take);

}  // namespace mokume::cnn
