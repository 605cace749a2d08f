// The gradient of the weights of direct.hpp's convolutions.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct_grad(const mk_device& device, const ConvProblem& p);
// dbias: {} where it is not wanted; images lie side by side otherwise.
void direct_grad_weight(Launcher& launcher, const ConvProblem& p, const mk_tensor& dbias);

// dy as the kernels read it: whole vectors, `reach` floats, from the first channel of each pixel on. Where there are
// fewer channels, this is a copy, which has room after the last pixel.
mk_tensor readable_gradients(Launcher& launcher, const ConvProblem& p, int64_t reach);

}  // namespace mokume::opencl
