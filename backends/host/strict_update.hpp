// Computes linear_update (sdk/ops/linear_update.hpp) as docs/explained/numbers.md defines it.
#pragma once

#include "call.hpp"

namespace mokume::host {

// Throws Error(MK_OUT_OF_MEMORY) if there is no memory for the gradients of a few rows.
void update_strictly(const Call& call);

}  // namespace mokume::host
