// Takes the vote of an ensemble's members on the test rows. Each refit stores the predictions of its model for these
// rows next to the model. Once all exist, rank 0 combines them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/record.hpp"
#include "node/experiment.hpp"
#include "results/view.hpp"

namespace mokume::run {

// Writes the majority of the members' votes (ties go to the class with the higher summed certainty, then to the first),
// or the mean of their numbers, to the run directory. `refits` are the refits of a finished run; a failed refit adds no
// member. Writes nothing if a member's predictions are missing, or if there are no members or test rows. Errors name
// the file.
void write_vote(const std::string& run_directory, const node::Experiment& experiment,
                const std::vector<journal::FitRecord>& refits);

// Returns nothing if there is no valid vote. Throws Error(MK_BAD_DATA) that names a file whose checksum differs.
std::optional<results::Vote> read_vote(const std::string& run_directory);

}  // namespace mokume::run
