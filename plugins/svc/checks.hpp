// Refuses experiments that make no sense, before any device computes.
#pragma once

#include "abi/model.h"
#include "sdk/model.hpp"

namespace mokume::svc {

// Throws an Error if the experiment violates a rule that the schema cannot express. Warns of fits that will fail.
void check(const sdk::Host& host, const mk_experiment& experiment);

}  // namespace mokume::svc
