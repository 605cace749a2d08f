// Computes convolutions with a window of 3 x 3 and stride 1 in a transformed space (winograd.cl).
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_winograd(const mk_device& device, const ConvProblem& p);
void winograd_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);
void winograd_grad_input(Launcher& launcher, const ConvProblem& p);
void winograd_grad_weight(Launcher& launcher, const ConvProblem& p);

}  // namespace mokume::opencl
