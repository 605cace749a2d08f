// Convolution without patches: a band of an image is copied with its padding, and the windows of its rows are
// multiplied where they lie. Every output is one chain of additions in the order of the patch.
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host {

// Returns whether convolve_directly() computes this conv2d.
bool is_direct(const Call& call, const ops::Window& w);

// Computes conv2d. Throws Error(MK_OUT_OF_MEMORY).
void convolve_directly(const Call& call, const ops::Window& w);

// Computes the op conv2d and then `next`, if that normalises its output in place with known moments: each row of
// windows while it is in the cache. Returns false otherwise. Separate ops would give the same bits.
bool convolve_and_normalise(const Call& call, const mk_op& next);

}  // namespace mokume::host
