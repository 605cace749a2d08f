// Clues in the environment about how this process was started.
#pragma once

#include <cstdint>

namespace mokume::cluster {

// srun without an MPI plugin starts every task as a program of its own, and they would fight for one run directory.
// Error(MK_INVALID_ARGUMENT) if this is such a task. `ranks`: of the transport in use.
void check_launcher(uint32_t ranks);

}  // namespace mokume::cluster
