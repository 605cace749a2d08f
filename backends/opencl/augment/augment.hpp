// Images changed at random, as training batches are.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void augment(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
