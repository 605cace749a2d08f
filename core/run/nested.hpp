// Nested cross-validation: the outer folds are runs of their own in the directory outer/ of a run, each of the same
// experiment without the rows of its fold, on which it is tested. Their results estimate the error of the whole
// procedure, the choice of the best candidate included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "results/view.hpp"
#include "run/run.hpp"

namespace mokume::run {

// The experiment of one outer fold, from 1, of a run with validation.outer.
config::Config outer_config(const config::Config& whole, const std::string& run_directory, uint32_t fold);

// Enters the result of an outer fold in nested.json of the run directory; nothing without a test result.
void keep_outer_result(const std::string& run_directory, uint32_t folds, uint32_t fold, const RunResult& result);

// Nothing if no outer fold is finished, or the file is damaged: `mokume run` writes it again.
std::optional<results::Nested> read_nested(const std::string& run_directory);

}  // namespace mokume::run
