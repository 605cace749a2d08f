#include "cluster/transport/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "sdk/error.hpp"

namespace mokume::cluster {

namespace {

// Returns the number in an environment variable, or 0.
long count_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

}  // namespace

std::string transport_of_launcher(const std::vector<std::string>& available) {
  const auto set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (const char* chosen = std::getenv("MOKUME_MPI")) return chosen;
  // Slurm's plugin pmi2 sets PMI_RANK too, for any MPI. Only MPICH's launcher sets HYDI_CONTROL_FD.
  const bool hydra = set("HYDI_CONTROL_FD") || !set("SLURM_STEP_ID");
  const bool mpich = set("PMI_RANK") && hydra && !set("OMPI_COMM_WORLD_RANK") && !set("PMIX_RANK");
  const bool there = std::find(available.begin(), available.end(), "mpich") != available.end();
  return mpich && there ? "mpich" : "mpi";
}

void check_launcher(uint32_t ranks) {
  if (ranks > 1) return;
  // Only srun sets the size of a step. SLURM_NTASKS is also set in a batch script, which may start a single process.
  if (const long tasks = count_in("SLURM_STEP_NUM_TASKS"); tasks > 1)
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format("srun started {} tasks that are unaware of each other: start them with 'srun --mpi=pmix' "
                    "(with MPICH: 'MOKUME_MPI=mpich srun --mpi=pmi2') or with mpirun, or one task with 'srun -n 1'",
                    tasks));
  // MPICH and its descendants set this variable.
  if (const long tasks = count_in("PMI_SIZE"); tasks > 1)
    throw Error(MK_INVALID_ARGUMENT,
                fmt::format("the launcher of another MPI started {} ranks that are unaware of each other: use the "
                            "launcher of the MPI that mokume was built with, or build mokume where MPICH is installed",
                            tasks));
}

}  // namespace mokume::cluster
