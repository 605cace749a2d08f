// The gradient of a convolution's weights on CPUs without patches: lines_grad.cl.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_lines_grad(const mk_device& device, const ConvProblem& p);
void lines_grad_weight(Launcher& launcher, const ConvProblem& p);

}  // namespace mokume::opencl
