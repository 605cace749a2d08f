// Computes the gradients of convolutions without patches. The sums run in fixed orders, whatever the number of threads.
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host {

// Compute the ops of their names in sdk/ops/conv2d.hpp, without the relu of grad_input and the gradient of the bias.
// Return false if the instruction set has no fused multiply-adds, and grad_weight also without images.
bool grad_input_without_patches(const Call& call, const ops::Window& w);
bool grad_weight_without_patches(const Call& call, const ops::Window& w);

}  // namespace mokume::host
