// Computes convolutions without patches: copies a band of an image with its padding, and multiplies the windows of its
// rows in place. Every output is one chain of additions in the order of the patch.
#pragma once

#include "convolution/convolution.hpp"

namespace mokume::host {

// Returns whether convolve_directly() computes convolutions here: the instruction set needs fused multiply-adds.
inline bool is_direct(const Call& call) { return call.loops.convolve != nullptr; }

// Throws Error(MK_OUT_OF_MEMORY) if there is no memory for a band.
void convolve_directly(const Call& call, const Convolution& c);

// Locates lines of an image, with its padding and the channels of one group, at which neighbouring pixels are adjacent.
struct Band {
  const float* pixels;
  int64_t line;  // the distance from a line to the next
};

// Returns the first `columns` columns of lines [first, first + lines) of a padded image. Copies them to `memory`, which
// has room for them, unless they lie in the image like that.
Band band_of(const ops::Window& w, const float* image, int64_t group, int64_t first, int64_t lines, int64_t columns,
             float* memory);

// Computes conv2d and then `next`, if `next` normalises the output in place with known moments. Normalises each row of
// windows while it is in the cache. Returns false otherwise. Separate ops would give the same bits.
bool convolve_and_normalise(const Call& call, const mk_op& next);

}  // namespace mokume::host
