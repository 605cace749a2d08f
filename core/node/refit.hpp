// The refit of an attempt: a candidate trained on every row of its bootstrap, tested on the test set, and saved.
#pragma once

#include "node/fit.hpp"

namespace mokume::node {

// Trains the candidate of `attempt`, keeps the model in the run directory (models.hpp) and reports the refit. Without a
// run directory the model is dropped after training, as in team members other than the leader.
void refit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter);

}  // namespace mokume::node
