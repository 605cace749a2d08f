// Runs the refit of an attempt: trains a candidate on every row of its bootstrap, and tests and saves the model.
#pragma once

#include "node/fit.hpp"

namespace mokume::node {

// Trains the candidate of `attempt`, tests it, keeps the model in the run directory (models.hpp), if there is one, and
// reports the refit. Members of a team other than the leader only train.
void refit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter);

}  // namespace mokume::node
