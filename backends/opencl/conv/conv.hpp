// Convolutions, forward and backward. Each uses one of the algorithms of this folder:
//
// patches: the product of patches and weights, on every device; with groups, one product for each.
// depthwise: groups of one input channel, on every device.
// winograd: windows of 3 x 3 with stride 1 and whole vectors of channels, on CPUs.
// direct, direct_grad: one channel, on CPUs.
// lines: everything else that has vectors of channels, on CPUs.
//
// The recorded choice `conv` decides between patches and winograd. Sums over images take a fixed number of images at a
// time for each device class.
#pragma once

#include "runtime/launcher.hpp"

namespace mokume::opencl {

void conv2d(Launcher& launcher, const mk_op& op);
void conv2d_grad_input(Launcher& launcher, const mk_op& op);
void conv2d_grad_weight(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl
