#include "network/initial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "network/normal.hpp"
#include "sdk/philox.hpp"

namespace mokume::cnn {
namespace {

constexpr int64_t kTask = int64_t{1} << 16;  // elements per task of a thread

double normal(const sdk::Random& random, uint64_t at) {
  return normal_quantile(std::min(random.uniform(at) + 0x1p-54, 1 - 0x1p-53));
}

// Applies the inverse of the parameter's distribution to a uniform random number.
double drawn(const Parameter& p, const sdk::Random& random, uint64_t at) {
  constexpr double kCut = 2;
  switch (p.draw) {
    case Parameter::Draw::uniform:
    case Parameter::Draw::dirac:
      return (2 * random.uniform(at) - 1) * p.bound;
    case Parameter::Draw::normal:
      return p.bound * normal(random, at);
    case Parameter::Draw::truncated: {
      const double below = normal_share(-kCut / p.bound), share = below + random.uniform(at) * (1 - 2 * below);
      return std::clamp(p.bound * normal_quantile(std::clamp(share, 0x1p-54, 1 - 0x1p-53)), -kCut, kCut);
    }
    case Parameter::Draw::orthogonal:
    case Parameter::Draw::whitening:
      return 0;
  }
  return 0;
}

// Orthogonalises vectors of normal numbers by the Gram-Schmidt process in double precision. The result is PyTorch's
// factor Q, for an R with a positive diagonal.
std::vector<float> orthogonal_values(const sdk::Host& host, const Parameter& p, const sdk::Random& random) {
  const int64_t rows = p.rows(), outputs = p.outputs, count = std::min(rows, outputs), length = std::max(rows, outputs);
  const bool by_output = outputs <= rows;  // whether a vector consists of the weights of one output
  std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
  const auto element = [&](int64_t vector, int64_t at) -> double& { return vectors[vector][at]; };
  host.parallel_for(count, [&](int64_t v) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t output = by_output ? v : i, row = by_output ? i : v;
      element(v, i) = normal(random, output * rows + p.torch_column(row));
    }
  });
  for (int64_t v = 0; v < count; ++v) {
    std::vector<double>& unit = vectors[v];
    const double norm = std::sqrt(std::inner_product(unit.begin(), unit.end(), unit.begin(), 0.0));
    for (double& x : unit) x /= norm;
    host.parallel_for(count - v - 1, [&](int64_t k) {
      std::vector<double>& other = vectors[v + 1 + k];
      const double shared = std::inner_product(unit.begin(), unit.end(), other.begin(), 0.0);
      for (int64_t i = 0; i < length; ++i) other[i] -= shared * unit[i];
    });
  }
  std::vector<float> values(p.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t output = 0; output < outputs; ++output)
      values[row * outputs + output] = p.bound * (by_output ? element(output, row) : element(row, output));
  return values;
}

// Returns whether the row of a filter's weights is that of the middle pixel of the filter's channel.
bool is_middle(const Parameter& p, int64_t row, int64_t channel) {
  return row == (p.in.height / 2 * p.in.width + p.in.width / 2) * p.in.channels + channel;
}

void fill(const Parameter& p, const sdk::Random& random, int64_t begin, int64_t end, float* values) {
  for (int64_t row = begin / p.outputs; begin < end; ++row) {
    const int64_t row_end = std::min(end, (row + 1) * p.outputs);
    uint64_t at = (begin - row * p.outputs) * p.rows() + p.torch_column(row);
    for (; begin < row_end; ++begin, at += p.rows()) {
      const int64_t output = begin - row * p.outputs;
      if (p.draw == Parameter::Draw::dirac && output < p.in.channels)
        *values++ = is_middle(p, row, output) ? 1 : 0;
      else
        *values++ = p.bound == 0 ? p.start : drawn(p, random, at);
    }
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
  for (size_t k = 0; k < parameters.size(); ++k)
    if (parameters[k].draw == Parameter::Draw::orthogonal)
      to.write(parameters[k].offset,
               orthogonal_values(host, parameters[k], sdk::Random(seed, sdk::Purpose::weights, stream, uint32_t(k))));
}

}  // namespace mokume::cnn
