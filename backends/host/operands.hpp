// Every check of a descriptor that needs its buffers, and the views that pass.
#pragma once

#include "device.hpp"

namespace mokume::host {

// Throws Error(MK_INVALID_ARGUMENT) if an operand has no buffer, has one of another device or reaches beyond it, if an
// output overlaps an input or another output, or if an index is out of range. `op` has passed ops::check.
void check_operands(const mk_device& device, const mk_op& op);

}  // namespace mokume::host
