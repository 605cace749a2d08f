// Divides a host among the ranks that run on it. The functions are pure: rank 0 decides for all ranks.
#pragma once

#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

struct Shares {
  std::vector<HostShare> shares;     // indexed by rank
  std::vector<std::string> notices;  // messages for the user about imperfect divisions
};

// Returns the share of each rank. A rank that is alone on its host keeps everything. Ranks of one host that may run on
// the same cores get equal parts of them, in rank order; disjoint bindings of a launcher stay. If there are fewer cores
// than ranks, ranks share cores. A GPU that several ranks name goes to the rank with the fewest GPUs so far, and only
// to that rank.
Shares share(const std::vector<HostView>& ranks);

}  // namespace mokume::cluster
