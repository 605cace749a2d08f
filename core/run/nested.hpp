// Implements nested cross-validation. Each outer fold is a run in the directory outer/ of the main run, which repeats
// the experiment without the rows of the fold and is tested on these rows. The results estimate the error of the whole
// procedure, including the choice of the best candidate.
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

// Returns nothing if no outer fold is finished. `classes` is the number of classes of the data. Throws
// Error(MK_BAD_DATA) that names a damaged file.
std::optional<results::Nested> read_nested(const std::string& run_directory, int64_t classes);

}  // namespace mokume::run
