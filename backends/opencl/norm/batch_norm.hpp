// Computes batch normalisation (sdk/ops/batch_norm.hpp).
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void batch_norm(Launcher& launcher, const mk_op& op);
void batch_norm_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
