// Divides a host among the ranks that run on it. Pure functions: rank 0 decides for all ranks.
#pragma once

#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

struct Shares {
  std::vector<HostShare> shares;     // by rank
  std::vector<std::string> notices;  // messages for the user about imperfect divisions
};

// A rank alone on its host keeps everything. Ranks of one host that may run on the same cores get equal parts of them
// in rank order; disjoint bindings made by a launcher are kept. If there are fewer cores than ranks, ranks share cores.
// A GPU named by several ranks goes to the rank with the fewest GPUs so far. It is assigned once, however often it is
// named.
Shares share(const std::vector<HostView>& ranks);

}  // namespace mokume::cluster
