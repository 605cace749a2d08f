#include "initial.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

constexpr int64_t kShare = int64_t{1} << 16;  // elements that a thread makes at a time

// Elements [begin, end) of one parameter.
void fill(const Parameter& p, const sdk::Random& random, int64_t begin, int64_t end, float* values) {
  const double bound = 1 / std::sqrt(static_cast<double>(p.fan_in));
  for (int64_t row = begin / p.outputs; begin < end; ++row) {
    const int64_t row_end = std::min(end, (row + 1) * p.outputs);
    auto place = static_cast<uint64_t>((begin - row * p.outputs) * p.rows() + p.torch_column(row));
    for (; begin < row_end; ++begin, place += static_cast<uint64_t>(p.rows()))
      *values++ = static_cast<float>((2 * random.uniform(place) - 1) * bound);
  }
}

}  // namespace

void initial_values(const Network& network, uint64_t seed, uint32_t stream, int64_t first, std::span<float> values) {
  const int64_t last = first + static_cast<int64_t>(values.size());
  for (size_t k = 0; k < network.parameters.size(); ++k) {
    const Parameter& p = network.parameters[k];
    const int64_t begin = std::max(first, p.offset), end = std::min(last, p.offset + p.size());
    const sdk::Random random(seed, sdk::Purpose::weights, stream, static_cast<uint32_t>(k));
    if (begin < end) fill(p, random, begin - p.offset, end - p.offset, values.data() + (begin - first));
  }
}

void write_initial_values(const sdk::Host& host, const Network& network, uint64_t seed, uint32_t stream,
                          const ParameterVector& to) {
  std::vector<float> piece(static_cast<size_t>(std::min(kPiece, network.n_parameters)));
  in_pieces(network.n_parameters, [&](int64_t first, int64_t count) {
    const std::span<float> values(piece.data(), static_cast<size_t>(count));
    host.parallel_for(static_cast<uint64_t>((count + kShare - 1) / kShare), [&](uint64_t share) {
      const int64_t at = static_cast<int64_t>(share) * kShare;
      initial_values(network, seed, stream, first + at,
                     values.subspan(static_cast<size_t>(at), static_cast<size_t>(std::min(kShare, count - at))));
    });
    to.write(first, values);
  });
}

}  // namespace mokume::cnn
