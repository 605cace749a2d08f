// Computes losses of a batch and their gradients.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void softmax_loss(Launcher& launcher, const mk_op& op);
void squared_loss(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
