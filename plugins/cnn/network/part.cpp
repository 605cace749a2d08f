#include "network/part.hpp"

#include <algorithm>

#include "network/network.hpp"

namespace mokume::cnn {

std::vector<size_t> cut_points(const Network& network) {
  const size_t n = network.stages.size();
  std::vector<size_t> points = {n};
  size_t oldest = network.output;  // oldest value that the stages from k on, or the caller, need
  for (size_t k = n; k-- > 0;) {
    const std::vector<size_t>& reads = network.stages[k]->reads;
    oldest = std::min(oldest, *std::min_element(reads.begin(), reads.end()));
    if (oldest == k) points.push_back(k);
  }
  std::reverse(points.begin(), points.end());
  return points;
}

int64_t first_parameter(const Network& network, size_t stage) {
  return stage < network.stages.size() ? network.stages[stage]->first_parameter : network.n_parameters;
}

}  // namespace mokume::cnn
