// Runs local response normalisation and its gradient.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void lrn(Launcher& launcher, const mk_op& op);
void lrn_grad(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
