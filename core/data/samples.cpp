#include "data/samples.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sdk/philox.hpp"

namespace mokume::data {

Sample whole_sample(std::vector<int32_t> fold_of) {
  Sample sample;
  sample.row.resize(fold_of.size());
  std::iota(sample.row.begin(), sample.row.end(), 0U);
  sample.fold_of = std::move(fold_of);
  return sample;
}

Sample draw_sample(const std::vector<int32_t>& fold_of, uint64_t seed, uint32_t bootstrap) {
  const int32_t last = fold_of.empty() ? -1 : *std::max_element(fold_of.begin(), fold_of.end());
  std::vector<std::vector<uint32_t>> members(static_cast<size_t>(last) + 2);
  for (size_t r = 0; r < fold_of.size(); ++r)
    members[static_cast<size_t>(fold_of[r] + 1)].push_back(static_cast<uint32_t>(r));
  Sample sample;
  const sdk::Random random(seed, sdk::Purpose::bootstrap, bootstrap);
  for (size_t k = 0; k < members.size(); ++k)
    for (size_t i = 0; i < members[k].size(); ++i) {
      sample.row.push_back(members[k][random.below(sample.row.size(), members[k].size())]);
      sample.fold_of.push_back(static_cast<int32_t>(k) - 1);
    }
  return sample;
}

}  // namespace mokume::data
