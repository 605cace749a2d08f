// Initial parameters: uniform within the bounds that layers declare, drawn in PyTorch's order.
#pragma once

#include <cstdint>
#include <span>

#include "parameters.hpp"
#include "sdk/plugin.hpp"

namespace mokume::cnn {

// Elements [first, first + values.size()) of the flat vector, whatever the others. `stream`: of the experiment's random
// numbers. Throws nothing.
void initial_values(std::span<const Parameter> parameters, uint64_t seed, uint32_t stream, int64_t first,
                    std::span<float> values);

// All of them, made on the host's threads and written chunk by chunk.
void write_initial_values(const sdk::Host& host, std::span<const Parameter> parameters, uint64_t seed, uint32_t stream,
                          const ParameterVector& to);

}  // namespace mokume::cnn
