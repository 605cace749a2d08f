// Refuses what machines on landmarks do not have.
#pragma once

#include "abi/model.h"

namespace mokume::svc {

// Throws Error(MK_INVALID_ARGUMENT) if parameters have no effect or no meaning for features of landmarks, or if a fit
// trains on fewer rows than it has landmarks.
void check_approximations(const mk_experiment& experiment);

}  // namespace mokume::svc
