// Looks up vectors by codes, and sums their gradients.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void embedding(Launcher& launcher, const mk_op& op);
void embedding_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
