// direct_grad.hpp for so few channels that a vector has room for several lines of the window.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_spread(const mk_device& device, const ConvProblem& p);
void spread_grad_weight(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias);

}  // namespace mokume::opencl
