// Decides how many problems a device solves at once.
#pragma once

#include <cstdint>

#include "abi/backend.h"

namespace mokume::svc {

// Returns the number of problems to solve at once if memory allows. If there are fewer chains, each chain solves up to
// most_ahead() values of C at once, although the solutions for larger values may turn out to be copies.
int64_t problems_at_once(const mk_device_info& device);
int64_t most_ahead(const mk_device_info& device);

// Returns the most problems for which a device may have room: fewer than on other GPUs if its largest buffer holds
// fewer kernel matrices of working sets of `set` rows (blocked_solver.hpp).
int64_t most_places(const mk_device_info& device, int64_t set);

// Returns the number of coefficient rows per fold: one for each problem that `places` places can solve at once, `ahead`
// of each chain, and more for solutions that wait for validation.
int64_t coef_rows_per_fold(int64_t problems, int64_t places, int64_t ahead);

// Returns the number of rounds of the blocked solver that a GPU runs before the host waits for it: about 50 ms of
// estimated work, but few enough that launches for problems that have converged cost little.
int rounds_at_once(const mk_device_info& device, int64_t problems, int64_t rows, int64_t set);

}  // namespace mokume::svc
