#include <vector>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/group_norm.hpp"

namespace mokume::host::fast {
namespace {

// Computes the gradients of one row, and the row's contribution to the gradients of weight and bias.
class Row {
 public:
  Row(const Call& call, const ops::NormGroups& g)
      : call_(call), g_(g), mean_(size()), sum_(size()), product_(size()), a_(size()), b_(size()), c_(size()) {}

  void run(int64_t r, double* dweight, double* dbias) {
    const View<const float> dy = call_.input(0), x = call_.input(1), weight = call_.input(2), moments = call_.input(3);
    for (int64_t c = 0; c < g_.channels; ++c) mean_[static_cast<size_t>(c)] = moments.row(r)[c / g_.each()];
    NormRows n{};
    n.dy = dy.row(r);
    n.x = x.row(r);
    n.rows = g_.pixels;
    n.columns = n.dy_stride = n.x_stride = n.out_stride = g_.channels;
    n.mean = n.scale = n.shift = mean_.data();  // without a relu, scale and shift do not matter
    call_.loops.network->norm_products(n, sum_.data(), product_.data());
    for (int64_t group = 0; group < g_.groups; ++group)
      coefficients(group, weight, moments.row(r)[group], moments.row(r)[g_.groups + group], dweight, dbias);
    if (call_.op.n_outputs < 3) return;
    n.out = call_.output(2).row(r);
    n.a = a_.data();
    n.b = b_.data();
    n.c = c_.data();
    call_.loops.network->norm_grad(n);
  }

 private:
  size_t size() const { return static_cast<size_t>(g_.channels); }

  // Computes the coefficients of dx = a * dy + b * x + c, and adds to dweight and dbias.
  void coefficients(int64_t group, const View<const float>& weight, double mean, double inverse, double* dweight,
                    double* dbias) {
    const auto terms = static_cast<double>(g_.pixels * g_.each());
    const auto begin = static_cast<size_t>(group * g_.each()), end = begin + static_cast<size_t>(g_.each());
    double sum = 0, product = 0;
    for (size_t c = begin; c < end; ++c) {
      dbias[c] += sum_[c];
      dweight[c] += product_[c] * inverse;
      sum += static_cast<double>(weight.data[c]) * sum_[c] / terms;
      product += static_cast<double>(weight.data[c]) * product_[c] * inverse / terms;
    }
    const double slope = -product * inverse * inverse;
    for (size_t c = begin; c < end; ++c) {
      a_[c] = static_cast<float>(weight.data[c] * inverse);
      b_[c] = static_cast<float>(slope);
      c_[c] = static_cast<float>(-sum * inverse - slope * mean);
    }
  }

  const Call& call_;
  const ops::NormGroups& g_;
  std::vector<float> mean_, sum_, product_, a_, b_, c_;
};

}  // namespace

void group_norm_grad(const Call& call) {
  constexpr int64_t kElements = 32768;  // a block of rows has about this many elements
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const int64_t rows = call.input(1).rows, each = std::max<int64_t>(1, kElements / g.row()),
                blocks = (rows + each - 1) / each;
  std::vector<double> sums(static_cast<size_t>(2 * blocks * g.channels));
  call.parallel_for(static_cast<uint64_t>(blocks), [&](uint64_t block) {
    Row row(call, g);
    double* dweight = sums.data() + 2 * static_cast<int64_t>(block) * g.channels;
    const int64_t first = static_cast<int64_t>(block) * each;
    for (int64_t r = first; r < std::min(rows, first + each); ++r) row.run(r, dweight, dweight + g.channels);
  });
  for (int64_t c = 0; c < g.channels; ++c) {
    double dweight = 0, dbias = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      dweight += sums[static_cast<size_t>(2 * block * g.channels + c)];
      dbias += sums[static_cast<size_t>((2 * block + 1) * g.channels + c)];
    }
    call.output(0).data[c] = static_cast<float>(dweight);
    call.output(1).data[c] = static_cast<float>(dbias);
  }
}

}  // namespace mokume::host::fast
