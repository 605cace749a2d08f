// Computes convolutions of one channel, as in the first layer of networks for grey images, where patches would cause
// most of the memory traffic. The results have the same bits as with patches.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct(const mk_device& device, const ConvProblem& p);
void direct_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

const LibraryKernel& direct_kernel(mk_device& device, const char* name);

// Returns the macros of direct.cl and of the files that include it.
std::string direct_options(const mk_device& device);

// Divides the rows of windows among the work-items of a launch.
struct WindowRows {
  WindowRows(const mk_device& device, const ConvProblem& p);
  int64_t rows, items, each;
};

}  // namespace mokume::opencl
