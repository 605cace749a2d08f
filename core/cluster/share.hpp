// Divides a host among the ranks that run on it. Pure: rank 0 decides for all.
#pragma once

#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"

namespace mokume::cluster {

struct Shares {
  std::vector<HostShare> shares;     // by rank
  std::vector<std::string> notices;  // sentences for people: what could not be shared well
};

// A rank alone on its host keeps everything. Ranks of one host that may run on the same cores get even parts of them in
// the order of their ranks; what a launcher has bound apart stays as it is. With fewer cores than ranks, ranks share
// cores. A GPU that several of them name goes to the one that has the fewest so far, once however often it is named.
Shares share(const std::vector<HostView>& ranks);

}  // namespace mokume::cluster
