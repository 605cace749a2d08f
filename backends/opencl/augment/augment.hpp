// Changes the images of a training batch at random.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void augment(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
