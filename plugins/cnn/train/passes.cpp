#include "train/passes.hpp"

#include <algorithm>
#include <bit>

namespace mokume::cnn {

std::vector<Subtree> subtrees(int64_t first, int64_t end) {
  std::vector<Subtree> all;
  while (first < end) {
    const int64_t fits = std::bit_floor(uint64_t(end - first)),
                  size = first == 0 ? fits : std::min(fits, first & -first);
    all.push_back({first, size});
    first += size;
  }
  return all;
}

std::vector<RowRange> rows_of(const Subtree& tree, int64_t rows, int64_t shards) {
  std::vector<RowRange> all;
  for (int64_t s = tree.first; s < tree.first + tree.size; ++s) {
    const int64_t first = rows * s / shards;
    all.push_back({first, rows * (s + 1) / shards - first});
  }
  return all;
}

bool plan_passes(const Engine& engine, std::span<const RowRange> shards, const ParameterVector& to,
                 std::vector<ShardPass>& passes) {
  if (shards.size() == 1) {
    if (shards.front().rows > 0) passes.push_back({shards.front(), &to, {}});
    return shards.front().rows > 0;
  }
  const auto first = shards.first(shards.size() / 2), second = shards.subspan(shards.size() / 2);
  if (!plan_passes(engine, first, to, passes)) return plan_passes(engine, second, to, passes);
  const ParameterVector& half = engine.half(std::countr_zero(second.size()));
  if (plan_passes(engine, second, half, passes)) passes.back().adds.push_back({&half, &to});
  return true;
}

}  // namespace mokume::cnn
