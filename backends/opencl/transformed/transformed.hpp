// Computes convolutions with a window of 3 x 3 and stride 1 on GPUs in a transformed space (conv/minimal_filtering.cl).
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// Returns whether the transforms save more time than they take, which does not depend on the number of images, so that
// the result for an image does not either. The choice conv = winograd_everywhere forces it.
bool suits_transformed(const mk_device& device, const ConvProblem& p);

void transformed_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

// Passes the gradient through the relu that computed `x`, if there is one.
void transformed_grad_input(Launcher& launcher, const ConvProblem& p, const mk_tensor* x);

}  // namespace mokume::opencl
