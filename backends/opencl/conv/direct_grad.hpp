// Computes the gradient of the weights of direct.hpp's convolutions with direct_grad.cl or, if a vector has room for
// several lines of the window because channels are few, with spread.cl.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct_grad(const mk_device& device, const ConvProblem& p);
// `dbias` is {} if it is not needed.
void direct_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces, const mk_tensor& dbias);

}  // namespace mokume::opencl
