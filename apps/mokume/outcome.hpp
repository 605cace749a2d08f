// Prints the outcome of a run.
#pragma once

#include "run/run.hpp"

namespace mokume::app {

int exit_code(const run::RunResult& result);

// Prints the result, or only what went wrong.
void tell(const run::RunResult& result, bool quiet);

}  // namespace mokume::app
