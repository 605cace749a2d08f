// Computes filters that whiten the patches of the training images: their outputs have about the deviation 1 and are
// uncorrelated (Jordan: 94% on CIFAR-10 in 3.29 Seconds on a Single GPU, 2024).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layers/parameter.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

// Returns the values of a convolution's weight with Draw::whitening for images of `image`, of which `x` holds those in
// `rows`. The first half of the filters are the eigenvectors of the mean product of patches with themselves, divided by
// the root of their eigenvalue plus 1e-4, in descending order of eigenvalues; the second half are their negatives.
// Looks at the first 5000 rows.
std::vector<float> whitening_values(const sdk::Host& host, const Parameter& weight, const Shape& image, const float* x,
                                    std::span<const int32_t> rows);

}  // namespace mokume::cnn
