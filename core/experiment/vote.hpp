// What the members of an ensemble say together of the test rows. Each refit leaves what its model says of them beside
// the model; once all are there, rank 0 puts that together.
#pragma once

#include <optional>
#include <string>

#include "data/npy.hpp"
#include "experiment/prepared.hpp"
#include "report/report.hpp"

namespace mokume::experiment {

// Beside a member's model. Of a classifier a row holds the class it votes for and its certainty of each class; else the
// predicted number.
void write_test_predictions(const std::string& model_directory, const data::FloatTable& predictions);

// The majority of the members' votes (ties go to the class of higher summed certainty, then to the first), or the mean
// of their numbers: kept in the run directory. Nothing if a member is missing or there are no test rows. Errors name
// the file.
void write_vote(const std::string& run_directory, const Prepared& prepared);

// None if there is no vote yet, or it cannot be understood.
std::optional<report::Vote> read_vote(const std::string& run_directory);

}  // namespace mokume::experiment
