// Draws initial parameters as the layers declare them (Parameter::Draw), in PyTorch's order.
#pragma once

#include <cstdint>
#include <span>

#include "network/parameters.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

// Computes elements [first, first + values.size()) of the flat vector, independently of the other elements. `stream`
// selects the stream of the experiment's random numbers. Elements of orthogonal weights depend on each other, so they
// are 0 here. Does not throw.
void initial_values(std::span<const Parameter> parameters, uint64_t seed, uint32_t stream, int64_t first,
                    std::span<float> values);

// Computes all elements, including orthogonal weights, on the host's threads and writes them chunk by chunk.
void write_initial_values(const sdk::Host& host, std::span<const Parameter> parameters, uint64_t seed, uint32_t stream,
                          const ParameterVector& to);

}  // namespace mokume::cnn
