// Computes convolutions as products of patches and weights.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

void patches_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, ops::Activation activation);
void patches_grad_input(Launcher& launcher, const ConvProblem& p);
void patches_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces);

}  // namespace mokume::opencl
