// Computes convolutions on CPUs without patches (lines.cl), and the gradient of their weights (lines_grad.cl).
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_lines(const mk_device& device, const ConvProblem& p);
void lines_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

bool suits_lines_grad_input(const mk_device& device, const ConvProblem& p);
void lines_grad_input(Launcher& launcher, const ConvProblem& p);

bool suits_lines_grad(const mk_device& device, const ConvProblem& p);
void lines_grad_weight(Launcher& launcher, const ConvProblem& p);

}  // namespace mokume::opencl
