// direct.hpp for no more output channels than a vector has lanes: a vector holds neighbouring windows instead.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

void flat_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

}  // namespace mokume::opencl
