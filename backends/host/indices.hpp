// Checks indices and labels, which only a backend whose buffers are host memory can read.
#pragma once

#include "call.hpp"

namespace mokume::host {

// Throws Error(MK_INVALID_ARGUMENT) if an index or a label is out of range. Other devices write NaN to these rows.
void check_indices(const Call& call);

}  // namespace mokume::host
