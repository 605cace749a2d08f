// Declares loops over the channels of pixels, under the rules of loops.hpp.
#pragma once

#include <cstdint>

namespace mokume::host {

// Describes pixels whose channels have `each` filters: filter f of channel c has number c * each + f.
struct FilteredPixel {
  float* sums;
  const float* x;
  const float* weight;  // one per filter
  int64_t channels, each;
};

struct ChannelLoops {
  // Adds x[channel] * weight[filter] to the sum of each filter, fused.
  void (*to_filters)(const FilteredPixel& pixel);
  // Adds x[filter] * weight[filter] to the sum of the filter's channel, fused, filter after filter.
  void (*to_channels)(const FilteredPixel& pixel);
  // Computes sums[c] = 0 + x[c] + x[stride + c] + ..., in the order of the rows.
  void (*sum_rows)(const float* x, int64_t rows, int64_t columns, int64_t stride, float* sums);
};

}  // namespace mokume::host
