// Computes convolutions whose groups have one input channel each, without patches, in loops over the channels of a
// pixel. With several filters per channel, filter c reads channel c / (filters / channels).
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host {

inline bool is_depthwise(const ops::Window& w) { return w.groups > 1 && w.groups == w.channels; }

// Each function computes the op of its name in sdk/ops/conv2d.hpp. depthwise_grad_weight() leaves the gradient of the
// bias to its caller.
void depthwise(const Call& call);
void depthwise_grad_input(const Call& call);
void depthwise_grad_weight(const Call& call);

}  // namespace mokume::host
