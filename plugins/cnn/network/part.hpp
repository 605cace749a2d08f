// Describes the part of a network that one device of a team has in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mokume::cnn {

struct Network;

struct Part {
  // Stages [first, end), see network.hpp; the whole network by default.
  size_t first = 0, end = SIZE_MAX;
  int64_t in_flight = 1;  // batches that have passed forward, but not backward
  // Elements [states_first, states_end) of the flat vector of all parameters have their optimizer's states here.
  int64_t states_first = 0, states_end = INT64_MAX;

  bool has_all_states() const { return states_first == 0 && states_end == INT64_MAX; }
  bool operator==(const Part&) const = default;
};

// Returns the stages before which a network can be cut, in ascending order: 0, the number of stages, and every stage
// at which only the output of the stage before it is needed later.
std::vector<size_t> cut_points(const Network& network);

// Returns the index in the flat vector of the first parameter that belongs to a stage from `stage` on.
int64_t first_parameter(const Network& network, size_t stage);

}  // namespace mokume::cnn
