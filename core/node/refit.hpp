// Runs the refit of an attempt: trains a candidate on every row of its bootstrap, and tests and saves the model.
#pragma once

#include "node/fit.hpp"

namespace mokume::node {

// Trains the candidate of `attempt`, keeps the model in the run directory (models.hpp) and reports the refit. Without a
// run directory, drops the model after training, as in team members other than the leader.
void refit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter);

}  // namespace mokume::node
