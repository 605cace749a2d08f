#include "sdk/ops/group_norm.hpp"

#include <cmath>
#include <vector>

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {
namespace {

constexpr int64_t kLanes = 16;

struct GroupMoments {
  double mean = 0, squares = 0;
};

// Returns the moments of `lines` x `columns` elements, with lines `stride` apart, and of the n_rest elements of `rest`.
GroupMoments moments_of(const Call& call, const float* x, int64_t lines, int64_t columns, int64_t stride,
                        const float* rest, int64_t n_rest, std::vector<float>& scratch) {
  scratch.resize(static_cast<size_t>(2 * columns));
  float* mean = scratch.data();
  float* squares = mean + columns;
  NormRows n{};
  n.x = x;
  n.rows = lines;
  n.columns = columns;
  n.x_stride = stride;
  if (lines > 0) call.loops.network->norm_moments(n, mean, squares);
  if (lines == 0) columns = 0;
  const auto all = static_cast<double>(lines * columns + n_rest);
  GroupMoments m;
  for (int64_t c = 0; c < columns; ++c) m.mean += static_cast<double>(mean[c]) * static_cast<double>(lines) / all;
  for (int64_t i = 0; i < n_rest; ++i) m.mean += rest[i] / all;
  for (int64_t c = 0; c < columns; ++c)
    m.squares += squares[c] + static_cast<double>(lines) * (mean[c] - m.mean) * (mean[c] - m.mean);
  for (int64_t i = 0; i < n_rest; ++i) m.squares += (rest[i] - m.mean) * (rest[i] - m.mean);
  return m;
}

// Returns the moments of a group in a row. The elements of a single pixel lie side by side and are read as lines.
GroupMoments group_of(const Call& call, const float* x, const ops::NormGroups& g, std::vector<float>& scratch) {
  if (g.pixels > 1) return moments_of(call, x, g.pixels, g.each(), g.channels, nullptr, 0, scratch);
  const int64_t lines = g.each() / kLanes;
  return moments_of(call, x, lines, kLanes, kLanes, x + lines * kLanes, g.each() % kLanes, scratch);
}

}  // namespace

void group_norm(const Call& call) {
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const View<const float> x = call.input(0), weight = call.input(1), bias = call.input(2);
  const View<float> y = call.output(0), moments = call.output(1);
  const auto terms = static_cast<double>(g.pixels * g.each());
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    std::vector<float> scratch, scale(static_cast<size_t>(g.channels)), shift(scale.size());
    for (int64_t r = from; r < to; ++r) {
      for (int64_t group = 0; group < g.groups; ++group) {
        const GroupMoments m = group_of(call, x.row(r) + group * g.each(), g, scratch);
        const double inverse = 1 / std::sqrt(m.squares / terms + call.op.group_norm.eps);
        moments.row(r)[group] = static_cast<float>(m.mean);
        moments.row(r)[g.groups + group] = static_cast<float>(inverse);
        for (int64_t c = group * g.each(); c < (group + 1) * g.each(); ++c) {
          const double s = weight.data[c] * inverse;
          scale[static_cast<size_t>(c)] = static_cast<float>(s);
          shift[static_cast<size_t>(c)] = static_cast<float>(bias.data[c] - m.mean * s);
        }
      }
      NormRows n{};
      n.x = x.row(r);
      n.out = y.row(r);
      n.rows = g.pixels;
      n.columns = n.x_stride = n.out_stride = g.channels;
      n.scale = scale.data();
      n.shift = shift.data();
      call.loops.network->norm_apply(n);
    }
  });
}

}  // namespace mokume::host::fast
