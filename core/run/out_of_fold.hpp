// Pools what the fits of the best candidate predict for the rows that validate them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "results/view.hpp"

namespace mokume::run {

// Writes DIRECTORY/out_of_fold.csv, with a line for each validated row, and out_of_fold.json, which the report reads,
// and keeps the predictions themselves for runs that take fits over. `records` are the fits of a finished run. Without
// a validation, with bootstraps, or if some predictions are missing, writes nothing.
void write_out_of_fold(const std::string& run_directory, const node::Experiment& experiment,
                       const std::vector<journal::FitRecord>& records);

// Returns nothing if the run has none for this candidate. Throws Error(MK_BAD_DATA) that names a file whose checksum
// differs.
std::optional<results::TestResult> read_out_of_fold_result(const std::string& run_directory, uint32_t candidate,
                                                           int64_t classes);

// Copies the predictions of another run's fits. `fits` maps the fits of this run to those of the other.
void take_over_out_of_fold(const std::string& from, const std::map<uint32_t, uint32_t>& fits,
                           const node::Experiment& experiment, const std::string& to);

}  // namespace mokume::run
