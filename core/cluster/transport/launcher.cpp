#include "cluster/transport/launcher.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "sdk/error.hpp"

namespace mokume::cluster {

void check_launcher(uint32_t ranks) {
  // Only srun sets the size of a step. SLURM_NTASKS is also set in a batch script, which may start a single process.
  const char* text = std::getenv("SLURM_STEP_NUM_TASKS");
  if (text == nullptr || ranks > 1) return;
  const long tasks = std::strtol(text, nullptr, 10);
  if (tasks <= 1) return;
  throw Error(MK_INVALID_ARGUMENT,
              fmt::format("srun started {} tasks that are unaware of each other: start them with 'srun --mpi=pmix' or "
                          "with mpirun, or one task with 'srun -n 1'",
                          tasks));
}

}  // namespace mokume::cluster
