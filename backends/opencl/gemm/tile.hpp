// Products of GPUs, a tile in local memory: tile.cl.
#pragma once

#include "gemm/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// The bias and the activation are left to do.
void gemm_tile(Launcher& launcher, const Problem& p);

}  // namespace mokume::opencl
