// Checks in the environment how this process was started.
#pragma once

#include <cstdint>

namespace mokume::cluster {

// Throws Error(MK_INVALID_ARGUMENT) in a task that srun started without an MPI plugin: each task would then be an
// independent program, and all would compete for one run directory. `ranks` is the size of the transport in use.
void check_launcher(uint32_t ranks);

}  // namespace mokume::cluster
