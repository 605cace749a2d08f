#include "initial.hpp"

#include <algorithm>
#include <vector>

#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

constexpr int64_t kTask = int64_t{1} << 16;  // elements per task of a thread

void fill(const Parameter& p, const sdk::Random& random, int64_t begin, int64_t end, float* values) {
  for (int64_t row = begin / p.outputs; begin < end; ++row) {
    const int64_t row_end = std::min(end, (row + 1) * p.outputs);
    uint64_t at = (begin - row * p.outputs) * p.rows() + p.torch_column(row);
    for (; begin < row_end; ++begin, at += p.rows())
      *values++ = p.bound == 0 ? p.start : (2 * random.uniform(at) - 1) * p.bound;
  }
}

}  // namespace

void initial_values(std::span<const Parameter> parameters, uint64_t seed, uint32_t stream, int64_t first,
                    std::span<float> values) {
  const int64_t last = first + int64_t(values.size());
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& p = parameters[k];
    const int64_t begin = std::max(first, p.offset), end = std::min(last, p.offset + p.size());
    const sdk::Random random(seed, sdk::Purpose::weights, stream, uint32_t(k));
    if (begin < end) fill(p, random, begin - p.offset, end - p.offset, values.data() + (begin - first));
  }
}

void write_initial_values(const sdk::Host& host, std::span<const Parameter> parameters, uint64_t seed, uint32_t stream,
                          const ParameterVector& to) {
  const int64_t all = to.layout().elements();
  std::vector<float> chunk(std::min(kChunk, all));
  for_each_chunk(all, [&](int64_t first, int64_t count) {
    const std::span<float> values(chunk.data(), count);
    host.parallel_for((count + kTask - 1) / kTask, [&](int64_t task) {
      const int64_t at = task * kTask;
      initial_values(parameters, seed, stream, first + at, values.subspan(at, std::min(kTask, count - at)));
    });
    to.write(first, values);
  });
}

}  // namespace mokume::cnn
