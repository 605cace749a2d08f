// The check of what only a backend whose buffers are host memory can look at: indices and labels.
#pragma once

#include "call.hpp"

namespace mokume::host {

// Throws Error(MK_INVALID_ARGUMENT) if an index or a label is out of range. On other devices the rows concerned are
// NaN.
void check_indices(const Call& call);

}  // namespace mokume::host
