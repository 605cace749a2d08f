// The vote of an ensemble's members on the test rows. Each refit leaves its model's predictions for them next to
// the model; once all are there, rank 0 puts that together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "report/view.hpp"

namespace mokume::run {

// The majority of the members' votes (ties go to the class of higher summed certainty, then to the first), or the mean
// of their numbers: kept in the run directory. `refits`: those of a finished run; one that failed gives no member, and
// the others decide. Nothing if what one of these said is missing, or there are no members or test rows. Errors name
// the file.
void write_vote(const std::string& run_directory, const node::Experiment& experiment,
                const std::vector<journal::FitRecord>& refits);

// None if there is no vote yet, or it cannot be understood.
std::optional<report::Vote> read_vote(const std::string& run_directory);

}  // namespace mokume::run
