// Computes GPU products with one tile per work-group in local memory (tile.cl).
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

void gemm_tile(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
