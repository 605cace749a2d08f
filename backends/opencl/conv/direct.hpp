// Convolutions of one channel, as the first layer of networks for grey images has it: patches would be most of the
// memory traffic. They give the bits of patches.
#pragma once

#include "conv/problem.hpp"
#include "runtime/launcher.hpp"

namespace mokume::opencl {

bool suits_direct(const mk_device& device, const ConvProblem& p);
void direct_forward(Launcher& launcher, const ConvProblem& p, const mk_tensor& bias, bool relu);

// A kernel of direct.cl, flat.cl or direct_grad.cl.
const LibraryKernel& direct_kernel(mk_device& device, const char* name);

// The macros of direct.cl and of what includes it.
std::string direct_options(const mk_device& device);

// The rows of windows that the work-items of a launch share.
struct WindowRows {
  WindowRows(const mk_device& device, const ConvProblem& p);
  int64_t rows, items, each;
};

}  // namespace mokume::opencl
