// Computes maxima and averages over images, with one kernel each for all devices.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void max_pool(Launcher& launcher, const mk_op& op);
void max_pool_grad(Launcher& launcher, const mk_op& op);
void avg_pool(Launcher& launcher, const mk_op& op);
void avg_pool_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
