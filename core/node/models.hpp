// Manages the directory models/ of a run, which holds the models of refit attempts. At the end of the run, those that
// count get final names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/below.hpp"
#include "journal/read.hpp"
#include "search/plan.hpp"

namespace mokume::node {

// Lets `fill` write the model of this refit attempt into a separate directory, because another device may work on the
// same refit. A crash never leaves an incomplete model under a final name. Throws sdk::storage_error().
void keep_model(const std::string& run_directory, uint32_t slot, uint32_t attempt,
                const std::function<void(const std::string& directory)>& fill);

// Returns whether the model of this refit is in the run directory, or none is expected because the refit failed.
bool has_model(const std::string& run_directory, const search::Plan& plan, const journal::FitRecord& refit);

base::Below model_place(const std::string& run_directory, const search::Plan& plan, uint32_t slot);
std::string model_path(const std::string& run_directory, const search::Plan& plan, uint32_t slot);

// Gives final names to the models of the refits that count, and removes the files of other attempts. Must be called
// when no device works any more. Throws Error(MK_BAD_DATA) if a model is missing.
void adopt_models(const std::string& run_directory, const search::Plan& plan, const journal::Contents& contents);

}  // namespace mokume::node
