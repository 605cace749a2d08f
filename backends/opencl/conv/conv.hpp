// Computes convolutions, forward and backward, with one of the algorithms of this folder:
//
//   patches              multiplies patches by weights, on every device, with one product for each group
//   depthwise            handles groups of one input channel, on every device
//   winograd             handles windows of 3 x 3 with stride 1 and whole vectors of channels, on CPUs
//   direct, direct_grad  handle one channel, on CPUs
//   lines                handles everything else that has vectors of channels, on CPUs
//
// The recorded choice `conv` decides whether winograd and lines replace patches. Gradients of weights are sums of
// pieces (ops::gradient_pieces), except with winograd and, in fast mode, with patches and on GPUs.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void conv2d(Launcher& launcher, const mk_op& op);
void conv2d_grad_input(Launcher& launcher, const mk_op& op);
void conv2d_grad_weight(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
