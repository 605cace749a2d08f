#include <algorithm>
#include <vector>

#include "call.hpp"
#include "isa/network.hpp"
#include "isa/norm.hpp"
#include "sdk/ops/group_norm.hpp"

namespace mokume::host::fast {
namespace {

// Computes the gradients of rows from the sums of dy and of dy * (x - mean) for each of their channels.
class Row {
 public:
  Row(const Call& call, const ops::NormGroups& g)
      : call_(call), g_(g), mean_(static_cast<size_t>(g.channels)), a_(mean_), b_(mean_), c_(mean_) {}

  // Writes both sums for each channel of row r, and then dx.
  void run(int64_t r, float* sums, float* products) {
    const View<const float> dy = call_.input(0), x = call_.input(1), moments = call_.input(3);
    for (int64_t c = 0; c < g_.channels; ++c) mean_[static_cast<size_t>(c)] = moments.row(r)[c / g_.each()];
    NormRows n{};
    n.dy = dy.row(r);
    n.x = x.row(r);
    n.rows = g_.pixels;
    n.columns = n.dy_stride = n.x_stride = n.out_stride = g_.channels;
    n.mean = n.scale = n.shift = mean_.data();  // without a relu, scale and shift do not matter
    call_.loops.norm->products(n, sums, products);
    if (call_.op.n_outputs < 3) return;
    for (int64_t group = 0; group < g_.groups; ++group)
      coefficients(group, moments.row(r)[group], moments.row(r)[g_.groups + group], sums, products);
    n.out = call_.output(2).row(r);
    n.a = a_.data();
    n.b = b_.data();
    n.c = c_.data();
    call_.loops.norm->grad(n);
  }

 private:
  // Computes the coefficients of dx = a * dy + b * x + c.
  void coefficients(int64_t group, float mean, float inverse, const float* sums, const float* products) {
    const auto terms = static_cast<float>(g_.pixels * g_.each());
    const int64_t begin = group * g_.each();
    const float* weight = call_.input(2).data + begin;
    const float sum = call_.loops.norm->dot(weight, sums + begin, g_.each()),
                product = call_.loops.norm->dot(weight, products + begin, g_.each());
    const float slope = -(product * inverse / terms) * inverse * inverse,
                added = -(sum / terms) * inverse - slope * mean;
    for (int64_t i = 0; i < g_.each(); ++i) {
      const auto c = static_cast<size_t>(begin + i);
      a_[c] = weight[i] * inverse;
      b_[c] = slope;
      c_[c] = added;
    }
  }

  const Call& call_;
  const ops::NormGroups& g_;
  std::vector<float> mean_, a_, b_, c_;
};

}  // namespace

void group_norm_grad(const Call& call) {
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const View<const float> moments = call.input(3);
  const int64_t rows = call.input(1).rows;
  std::vector<float> sums(static_cast<size_t>(2 * rows * g.channels));
  const auto line = [&](int64_t r, int which) { return sums.data() + (2 * r + which) * g.channels; };
  call.for_rows(rows, g.row(), [&](int64_t from, int64_t to) {
    Row row(call, g);
    for (int64_t r = from; r < to; ++r) row.run(r, line(r, 0), line(r, 1));
  });
  call.for_rows(g.groups, 2 * rows * g.each(), [&](int64_t from, int64_t to) {
    const int64_t first = from * g.each(), columns = (to - from) * g.each();
    float *dweight = call.output(0).data, *dbias = call.output(1).data;
    std::fill_n(dweight + first, columns, 0.0F);
    std::fill_n(dbias + first, columns, 0.0F);
    for (int64_t r = 0; r < rows; ++r) {
      call.loops.network->add(dbias + first, line(r, 0) + first, columns);
      for (int64_t group = from; group < to; ++group) {
        const int64_t c = group * g.each();
        call.loops.network->add_scaled(dweight + c, line(r, 1) + c, moments.row(r)[g.groups + group], g.each());
      }
    }
  });
}

}  // namespace mokume::host::fast
