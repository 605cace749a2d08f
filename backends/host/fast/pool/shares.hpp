// Computes the factors of averages (sdk/ops/avg_pool.hpp).
#pragma once

#include <vector>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/avg_pool.hpp"

namespace mokume::host::fast {

// Returns 1 / the count of each cell, row by row.
inline std::vector<float> shares_of(const Call& call, const ops::AvgPool& p) {
  const ops::AvgSide rows = ops::down(p), columns = ops::across(p);
  std::vector<float> shares;
  shares.reserve(static_cast<size_t>(p.out_h * p.out_w));
  for (int64_t y = 0; y < p.out_h; ++y)
    for (int64_t x = 0; x < p.out_w; ++x)
      shares.push_back(
          call.loops.network->share(static_cast<int32_t>(rows.count(y)), static_cast<int32_t>(columns.count(x))));
  return shares;
}

}  // namespace mokume::host::fast
