#include "nystrom/basis.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fitted.hpp"
#include "sdk/error.hpp"

namespace mokume::svc {
namespace {

// Returns the dot product of two rows from eight partial sums, so that additions do not wait for each other.
double dot(const double* a, const double* b, int64_t count) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums <= count; k += kSums)
    for (int64_t t = 0; t < kSums; ++t) sums[t] += a[k + t] * b[k + t];
  for (; k < count; ++k) sums[0] += a[k] * b[k];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

constexpr int64_t kPart = 64;  // rows or columns for a thread

uint64_t parts_of(int64_t count) { return static_cast<uint64_t>((count + kPart - 1) / kPart); }

// Calls body(i) for every i from `first` to `count`, in parallel.
template <class Body>
void for_each(const sdk::Host& host, int64_t first, int64_t count, Body&& body) {
  host.parallel_for(parts_of(count - first), [&](uint64_t part) {
    const int64_t from = first + static_cast<int64_t>(part) * kPart;
    for (int64_t i = from; i < std::min(count, from + kPart); ++i) body(i);
  });
}

// Holds the rows of a factor, which the factorisation permutes, and what is left of the diagonal.
class Factor {
 public:
  Factor(const sdk::Host& host, const Kernel& kernel, const std::vector<float>& x, int64_t count, int64_t features)
      : host_(host), kernel_(kernel), x_(x), count_(count), features_(features) {
    for (int64_t i = 0; i < count; ++i) order_.push_back(i);
    left_.resize(static_cast<size_t>(count));
    for_each(host_, 0, count, [&](int64_t i) { left_[static_cast<size_t>(i)] = value(i, i); });
    rows_.assign(static_cast<size_t>(count * count), 0.0);
  }

  const std::vector<double>& left() const { return left_; }
  int64_t landmark(int64_t k) const { return order_[static_cast<size_t>(k)]; }
  const double* row(int64_t k) const { return rows_.data() + landmark(k) * count_; }

  // Makes the landmark with the largest rest the next one, and computes its column. Returns false if the rest of all
  // landmarks is at most `least`.
  bool take(int64_t k, double least) {
    const auto rest = [&](int64_t i) { return left_[static_cast<size_t>(landmark(i))]; };
    int64_t best = k;
    for (int64_t i = k + 1; i < count_; ++i)
      if (rest(i) > rest(best)) best = i;
    if (!(rest(best) > least)) return false;
    std::swap(order_[static_cast<size_t>(k)], order_[static_cast<size_t>(best)]);
    const double pivot = std::sqrt(rest(k));
    double* const own = rows_.data() + landmark(k) * count_;
    own[k] = pivot;
    for_each(host_, k + 1, count_, [&](int64_t i) {
      double* const other = rows_.data() + landmark(i) * count_;
      other[k] = (value(landmark(i), landmark(k)) - dot(other, own, k)) / pivot;
      left_[static_cast<size_t>(landmark(i))] -= other[k] * other[k];
    });
    return true;
  }

 private:
  double value(int64_t a, int64_t b) const {
    return double{
        static_cast<float>(kernel_value(kernel_, x_.data() + a * features_, x_.data() + b * features_, features_))};
  }

  const sdk::Host& host_;
  const Kernel& kernel_;
  const std::vector<float>& x_;
  int64_t count_, features_;
  std::vector<int64_t> order_;
  std::vector<double> left_, rows_;
};

// Inverts the lower triangle of the first `size` rows of a factor, in parallel by columns.
std::vector<double> inverse_of(const sdk::Host& host, const Factor& factor, int64_t size) {
  std::vector<double> inverse(static_cast<size_t>(size * size), 0.0);
  host.parallel_for(parts_of(size), [&](uint64_t part) {
    const int64_t from = static_cast<int64_t>(part) * kPart, to = std::min(size, from + kPart);
    for (int64_t i = from; i < size; ++i) {
      const double* const l = factor.row(i);
      double* const row = inverse.data() + i * size;
      if (i < to) row[i] = 1;
      for (int64_t k = from; k < i; ++k) {
        const double* const earlier = inverse.data() + k * size;
        for (int64_t c = from; c < std::min(to, k + 1); ++c) row[c] -= l[k] * earlier[c];
      }
      for (int64_t c = from; c < std::min(to, i + 1); ++c) row[c] /= l[i];
    }
  });
  return inverse;
}

}  // namespace

Basis make_basis(const sdk::Host& host, const Kernel& kernel, const std::vector<float>& x, int64_t count,
                 int64_t features) {
  Factor factor(host, kernel, x, count, features);
  Basis basis;
  double largest = 0;
  for (const double value : factor.left()) {
    if (!std::isfinite(value)) throw Error(MK_INVALID_ARGUMENT, why_not_finite(Kind::c_svc));
    largest = std::max(largest, value);
    basis.mean_diagonal += value / static_cast<double>(count);
  }
  while (basis.size() < count && factor.take(basis.size(), kLeastPivot * largest))
    basis.kept.push_back(factor.landmark(basis.size()));
  basis.transform = inverse_of(host, factor, basis.size());
  return basis;
}

std::vector<double> coefficients_of(const Basis& basis, const float* weights) {
  std::vector<double> coefficients(static_cast<size_t>(basis.size()), 0.0);
  for (int64_t i = 0; i < basis.size(); ++i)
    for (int64_t k = 0; k <= i; ++k)
      coefficients[static_cast<size_t>(k)] +=
          basis.transform[static_cast<size_t>(i * basis.size() + k)] * double{weights[i]};
  return coefficients;
}

}  // namespace mokume::svc
