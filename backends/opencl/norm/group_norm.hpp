// Computes group normalisation (sdk/ops/group_norm.hpp).
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void group_norm(Launcher& launcher, const mk_op& op);
void group_norm_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
