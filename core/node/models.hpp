// The directory models/ of a run: models of attempts at refits, of which those that count get their names at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "journal/read.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// Lets `fill` write the model of this attempt at a refit into a directory of its own, since another device may work on
// the same refit. A crash leaves no half of a model under a name that counts. Error(MK_STORAGE).
void keep_model(const std::string& run_directory, uint32_t slot, uint32_t attempt,
                const std::function<void(const std::string& directory)>& fill);

// Whether the model of this refit is in the run directory.
bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit);

// Where the model of a refit is once it has its name.
std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot);

// Gives the models of the refits that count their names, and removes all that other attempts left. Once no device works
// any more. Error(MK_STORAGE) if one is not there.
void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents);

}  // namespace mokume::node
