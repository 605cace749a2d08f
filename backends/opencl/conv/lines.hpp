// Convolutions on CPUs without patches: lines.cl.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

// The rows of windows in a band, whose lines stay in a core's cache. They depend on the shape alone.
int64_t rows_of_band(const ops::Window& window);

bool suits_lines(const mk_device& device, const ConvProblem& p);
void lines_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

bool suits_lines_grad_input(const mk_device& device, const ConvProblem& p);
void lines_grad_input(Launcher& launcher, const ConvProblem& p);

}  // namespace mokume::opencl
