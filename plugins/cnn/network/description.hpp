// A network as text, before anything is trained.
#pragma once

#include <cstdint>
#include <string>

#include "network/network.hpp"

namespace mokume::cnn {

// Returns a table of the layers: type, output shape, number of parameters, multiply-adds for one row, and the memory of
// what the layer keeps of `batch` rows for the backward pass. The layers that each reads follow its type if they are
// not all in a line. Below it are the sums; moments that are not learned are counted apart.
std::string describe(const Network& network, int64_t batch);

}  // namespace mokume::cnn
