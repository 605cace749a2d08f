// Computes convolutions whose groups have one input channel each, without patches.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_depthwise(const ConvProblem& p);
void depthwise_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);
void depthwise_grad_input(Launcher& launcher, const ConvProblem& p);
void depthwise_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces);

}  // namespace mokume::opencl
