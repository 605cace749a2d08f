// Computes convolutions without patches: copies a band of an image with its padding, and multiplies the windows of its
// rows in place. Every output is one chain of additions in the order of the patch.
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host {

// Returns whether convolve_directly() computes this conv2d.
bool is_direct(const Call& call, const ops::Window& w);

// Computes conv2d. Throws Error(MK_OUT_OF_MEMORY) if there is no memory for a band.
void convolve_directly(const Call& call, const ops::Window& w);

// Computes conv2d and then `next`, if `next` normalises the output in place with known moments. Normalises each row of
// windows while it is in the cache. Returns false otherwise. Separate ops would give the same bits.
bool convolve_and_normalise(const Call& call, const mk_op& next);

}  // namespace mokume::host
