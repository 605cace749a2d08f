// Checks in the environment how this process was started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::cluster {

// Returns which of the `available` transports fits the launcher of this process: "mpich" if there is one and only
// MPICH's kind of launcher started this process, else "mpi". The variable MOKUME_MPI overrides this.
std::string transport_of_launcher(const std::vector<std::string>& available);

// Throws Error(MK_INVALID_ARGUMENT) in a task that srun started without an MPI plugin, or that the launcher of another
// MPI started: each task would then be an independent program, and all would compete for one run directory. `ranks` is
// the size of the transport in use.
void check_launcher(uint32_t ranks);

}  // namespace mokume::cluster
