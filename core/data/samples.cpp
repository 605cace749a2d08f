#include "data/samples.hpp"

#include <algorithm>
#include <map>
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

// Shuffles each fold and class as in Fisher and Yates, "Statistical Tables", 1938, in Durstenfeld's form, and takes the
// first rows.
Sample draw_part(const std::vector<int32_t>& fold_of, const std::vector<int32_t>& labels, uint64_t divisor,
                 uint64_t seed) {
  std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>> members;
  for (size_t r = 0; r < fold_of.size(); ++r)
    members[{fold_of[r], labels.empty() ? 0 : labels[r]}].push_back(static_cast<uint32_t>(r));
  const sdk::Random random(seed, sdk::Purpose::rungs);
  uint64_t draws = 0;
  Sample sample;
  for (auto& [group, rows] : members) {
    for (size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[random.below(draws++, uint64_t{i} + 1)]);
    rows.resize((rows.size() - 1) / divisor + 1);
    sample.row.insert(sample.row.end(), rows.begin(), rows.end());
  }
  std::sort(sample.row.begin(), sample.row.end());
  for (const uint32_t row : sample.row) sample.fold_of.push_back(fold_of[row]);
  return sample;
}

}  // namespace mokume::data
