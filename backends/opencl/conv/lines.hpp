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
void lines_grad_weight(Launcher& launcher, const ConvProblem& p, const Pieces& pieces);

// Returns the program with the tiles for the registers of the device. `channels` are those of a group.
BuiltIn with_tiles(const mk_device& device, const char* name, const char* source, int64_t channels);

// Returns whether this file serves windows like `w`. Requires at least 4 of `channels`, which form vectors, in a group,
// because fewer leave most of a vector empty.
bool uses_lines(const mk_device& device, const ops::Window& w, int64_t channels);

// Returns the sides with the channels of one group.
WindowSides group_sides(const ops::Window& w, int64_t out_channels);

}  // namespace mokume::opencl
