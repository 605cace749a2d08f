// Prints the outcome of a run.
#pragma once

#include "run/run.hpp"

namespace mokume::app {

// Returns the exit code.
int conclude(const run::RunResult& result);

}  // namespace mokume::app
