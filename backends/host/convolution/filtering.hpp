// Computes convolutions with a window of 3 x 3 and stride 1 by minimal filtering (isa/filtering.hpp). Every sum over
// the channels is one chain of additions in their order, so the bits depend on nothing but the image and the weights.
#pragma once

#include "convolution/convolution.hpp"

namespace mokume::host {

// Returns whether convolve_by_filtering() computes the convolution and is faster than convolve_directly(). This depends
// neither on the number of images nor on the machine, because the bits do.
bool is_filtered(const Call& call, const Convolution& c);

// Throws Error(MK_OUT_OF_MEMORY) if there is no memory for transformed weights and tiles.
void convolve_by_filtering(const Call& call, const Convolution& c);

}  // namespace mokume::host
