// The gradient of the weights of direct.hpp's convolutions: direct_grad.cl or, with so few channels that a vector has
// room for several lines of the window, spread.cl.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct_grad(const mk_device& device, const ConvProblem& p);
// Pass {} as `dbias` if it is not needed; otherwise images must be contiguous.
void direct_grad_weight(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias);

}  // namespace mokume::opencl
