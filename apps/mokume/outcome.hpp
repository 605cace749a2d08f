// Prints the outcome of a run.
#pragma once

#include "run/run.hpp"

namespace mokume::app {

int exit_code(const run::RunResult& result);

// Prints the result, or only warnings and failures if `quiet`.
void tell(const run::RunResult& result, bool quiet);

}  // namespace mokume::app
