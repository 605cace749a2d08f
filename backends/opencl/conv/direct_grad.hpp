// The gradient of the weights of direct.hpp's convolutions.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct_grad(const mk_device& device, const ConvProblem& p);
// Pass {} as `dbias` if it is not needed; otherwise images must be contiguous.
void direct_grad_weight(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias);

// Returns dy such that kernels can read whole vectors, `reach` floats from the first channel of each pixel. If there
// are fewer channels, this is a copy with room after the last pixel.
mk_tensor readable_gradients(Launcher& launcher, const ConvProblem& p, int64_t reach);

}  // namespace mokume::opencl
