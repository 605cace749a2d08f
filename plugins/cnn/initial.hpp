// PyTorch's default initialisation: weights and biases uniform in +-1 / sqrt(fan_in), drawn in PyTorch's order.
#pragma once

#include <cstdint>
#include <span>

#include "parameters.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

// Elements [first, first + values.size()) of the network's flat vector, whatever the others. `stream`: of the
// experiment's random numbers. Throws nothing.
void initial_values(const Network& network, uint64_t seed, uint32_t stream, int64_t first, std::span<float> values);

// All of them, made on the host's threads and written piece by piece.
void write_initial_values(const sdk::Host& host, const Network& network, uint64_t seed, uint32_t stream,
                          const ParameterVector& to);

}  // namespace mokume::cnn
