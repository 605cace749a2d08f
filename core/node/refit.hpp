// Refits: a candidate trained on every row of its bootstrap, saved, and counted on the test set.
#pragma once

#include <string>
#include <vector>

#include "cluster/protocol/types.hpp"
#include "journal/read.hpp"
#include "node/device_worker.hpp"
#include "node/prepared.hpp"

namespace mokume::node {

// Trains what `item` names on `device` and reports it. The model is left in a directory of this attempt's own below
// `run_directory`, since another device may be at the same refit: see adopt_models().
void refit(const Prepared& prepared, OwnDevice& device, const cluster::WorkItem& item, const std::string& run_directory,
           cluster::Reporter& reporter);

// Whether the model that `refit` speaks of is in the run directory.
bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit);

// Where the model of a refit is once it has its name.
std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot);

// Gives the models of these refits, those that count, their names, and removes all that other attempts left. Once no
// device is at work any more. Error(MK_STORAGE) if one is not there.
void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents);

}  // namespace mokume::node
