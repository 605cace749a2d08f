// Describes a network as text before training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "network/network.hpp"

namespace mokume::cnn {

// Returns a table with a line per layer: its type, output shape, number of parameters, multiply-adds per row, and the
// memory in which it keeps values for the backward pass of `batch` rows. If the layers do not form a chain, the names
// of the input layers follow the type. Sums follow the table; they count running moments apart from learned parameters.
std::string describe(const Network& network, int64_t batch);

// Passes the input of the network and its layers, for the drawing in the report.
void pass_steps(const Network& network, const std::function<void(const mk_step&)>& take);

}  // namespace mokume::cnn
