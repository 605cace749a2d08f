// Describes a network as text before training.
#pragma once

#include <cstdint>
#include <string>

#include "network/network.hpp"

namespace mokume::cnn {

// Returns a table of the layers: type, output shape, number of parameters, multiply-adds per row, and the memory that
// the layer keeps for the backward pass of `batch` rows. If the layers are not in a line, the type is followed by the
// input layers. The sums follow; running moments, which are not learned, are counted separately.
std::string describe(const Network& network, int64_t batch);

}  // namespace mokume::cnn
