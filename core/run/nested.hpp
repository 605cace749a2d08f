// Nested cross-validation: each outer fold is a run in the directory outer/ of the main run. It repeats the experiment
// without the rows of its fold and is tested on them. The results estimate the error of the whole procedure, including
// the choice of the best candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "results/view.hpp"
#include "run/run.hpp"

namespace mokume::run {

// Returns the experiment of outer fold `fold`, counted from 1, of a run with validation.outer.
config::Config outer_config(const config::Config& whole, const std::string& run_directory, uint32_t fold);

// Adds the result of an outer fold to nested.json of the run directory; does nothing without a test result.
void keep_outer_result(const std::string& run_directory, uint32_t folds, uint32_t fold, const RunResult& result);

// Returns nothing if no outer fold is finished or the file is damaged; `mokume run` then writes it again.
std::optional<results::Nested> read_nested(const std::string& run_directory);

}  // namespace mokume::run
