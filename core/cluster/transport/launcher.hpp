// Checks the environment for how this process was started.
#pragma once

#include <cstdint>

namespace mokume::cluster {

// Without an MPI plugin, srun starts every task as an independent program, and all of them would compete for one run
// directory. Throws Error(MK_INVALID_ARGUMENT) in such a task. `ranks` is the size of the transport in use.
void check_launcher(uint32_t ranks);

}  // namespace mokume::cluster
