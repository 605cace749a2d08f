// Computes convolutions on GPUs as products without patches in memory.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_implicit(const mk_device& device);
void implicit_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);
// Returns whether it also passed the gradient through the relu that computed `x`, if there is one: x must lie like the
// images.
bool implicit_grad_input(Launcher& launcher, const ConvProblem& p, const mk_tensor* x);
void implicit_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces);

}  // namespace mokume::opencl
