// Takes optimizer steps on flat parameters.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void optimizer_step(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
