// Predicts rows with a model whose vectors are sparse, and sparse rows with a model whose vectors are dense.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "fitted.hpp"
#include "sdk/ops.hpp"
#include "sparse/sparse_products.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kSparseRowBlock = 1024;
constexpr int64_t kSparseVectorBlock = 8192;
constexpr int64_t kExpandedFloats = int64_t{1} << 24;  // limit of the sparse rows that become dense together

double squared_norm(const mk_data& rows, int64_t r) {
  double sum = 0;
  for (int64_t i = rows.starts[r]; i < rows.starts[r + 1]; ++i) sum += double{rows.x[i]} * double{rows.x[i]};
  return sum;
}

// Returns the product of row r and row s, whose columns ascend.
double product(const mk_data& a, int64_t r, const mk_data& b, int64_t s) {
  double sum = 0;
  for (int64_t i = a.starts[r], j = b.starts[s]; i < a.starts[r + 1] && j < b.starts[s + 1];) {
    if (a.column[i] == b.column[j])
      sum += double{a.x[i++]} * double{b.x[j++]};
    else if (a.column[i] < b.column[j])
      ++i;
    else
      ++j;
  }
  return sum;
}

// Copies the rows [first, first + count).
SparseRows copied(const mk_data& rows, int64_t first, int64_t count) {
  SparseRows some;
  for (int64_t r = first; r < first + count; ++r) some.append(rows, r);
  return some;
}

// Computes sums over support vectors on a device, which holds one block of vectors and one of rows at a time.
class SparseSums {
 public:
  SparseSums(const sdk::Host& host, const sdk::Device& device, const Fitted& fitted, int64_t rows)
      : device_(device),
        fitted_(fitted),
        used_(fitted.sparse.column),
        products_(host, device, used_.count(), fitted.sparse.values()),
        row_block_(std::min(rows, kSparseRowBlock)),
        vector_block_(std::min(fitted.n_vectors(), kSparseVectorBlock)) {
    std::vector<int32_t> numbers(static_cast<size_t>(row_block_));
    std::iota(numbers.begin(), numbers.end(), 0);
    numbers_ = device.upload(numbers);
    dots_ = device.buffer<float>(static_cast<uint64_t>(row_block_ * vector_block_));
    out_ = device.buffer<float>(static_cast<uint64_t>(row_block_ * fitted.problems()));
  }

  std::vector<float> of(const mk_data& rows) {
    std::vector<float> sums(static_cast<size_t>(rows.rows * fitted_.problems()), 0.0F);
    for (int64_t v = 0; v < fitted_.n_vectors(); v += vector_block_) {
      take_vectors(v);
      for (int64_t r = 0; r < rows.rows; r += row_block_)
        add(copied(rows, r, std::min(row_block_, rows.rows - r)), sums.data() + r * fitted_.problems());
    }
    return sums;
  }

 private:
  void take_vectors(int64_t first) {
    const int64_t count = std::min(vector_block_, fitted_.n_vectors() - first);
    const SparseRows part = fitted_.sparse.part(first, count);
    vectors_ = DeviceRows(device_, part, used_);
    vector_norms_ = device_.upload(squared_norms(part));
    std::vector<float> coefficients;
    for (int64_t p = 0; p < fitted_.problems(); ++p) {
      const auto from = fitted_.coefficients.begin() + static_cast<std::ptrdiff_t>(p * fitted_.n_vectors() + first);
      coefficients.insert(coefficients.end(), from, from + static_cast<std::ptrdiff_t>(count));
    }
    coefficients_ = device_.upload(coefficients);
  }

  void add(const SparseRows& rows, float* sums) {
    const int64_t n = rows.rows(), nv = vectors_.rows, p = fitted_.problems();
    const DeviceRows on_device(device_, rows, used_);
    const sdk::Buffer norms = device_.upload(squared_norms(rows));
    const mk_tensor dot = sdk::matrix(dots_.get(), n, nv);
    products_.compute(on_device, numbers_, 0, vectors_, dot);
    device_.submit(ops::kernel_map(dot, sdk::vector(norms.get(), n), sdk::vector(vector_norms_.get(), nv), dot,
                                   ops::without_one(fitted_.settings.kernel)));
    device_.submit(ops::gemm(dot, false, sdk::matrix(coefficients_.get(), p, nv), true, sdk::matrix(out_.get(), n, p)));
    std::vector<float> block(static_cast<size_t>(n * p));
    device_.read(out_, block.data(), block.size());
    for (size_t k = 0; k < block.size(); ++k) sums[k] += block[k];
  }

  const sdk::Device& device_;
  const Fitted& fitted_;
  const UsedColumns used_;
  SparseProducts products_;
  const int64_t row_block_, vector_block_;
  DeviceRows vectors_;
  sdk::Buffer numbers_, dots_, out_, vector_norms_, coefficients_;
};

}  // namespace

void Fitted::predict_sparse(const sdk::Host& host, const sdk::Device& device, const mk_data& rows, int32_t* labels,
                            float* scores) const {
  if (keeps_sparse) return predict_with_sparse_vectors(host, device, rows, labels, scores);
  const int64_t step = std::clamp<int64_t>(kExpandedFloats / features, 1, std::max<int64_t>(1, rows.rows));
  for (int64_t r = 0; r < rows.rows; r += step) {
    const SparseRows some = copied(rows, r, std::min(step, rows.rows - r));
    std::vector<float> x(static_cast<size_t>(some.rows() * features), 0.0F);
    for (int64_t k = 0; k < some.rows(); ++k) some.expand(k, x.data() + k * features);
    predict(host, device, x.data(), some.rows(), labels == nullptr ? nullptr : labels + r,
            scores == nullptr ? nullptr : scores + r * problems());
  }
}

void Fitted::predict_with_sparse_vectors(const sdk::Host& host, const sdk::Device& device, const mk_data& rows,
                                         int32_t* labels, float* scores) const {
  if (rows.rows == 0) return;
  std::vector<float> sums(static_cast<size_t>(rows.rows * problems()), 0.0F);
  if (n_vectors() > 0) sums = SparseSums(host, device, *this, rows.rows).of(rows);
  conclude(
      std::move(sums), rows.rows, [&](int64_t r) { return squared_norm(rows, r); },
      [&](int64_t r, float* decisions) { decide_in_double(rows, r, decisions); }, labels, scores);
}

void Fitted::decide_in_double(const mk_data& rows, int64_t row, float* decisions) const {
  std::vector<double> sums(static_cast<size_t>(problems()), 0.0);
  const mk_data all = sparse.view(features);
  const double norm = squared_norm(rows, row);
  for (int64_t v = 0; v < n_vectors(); ++v) {
    const double dot = product(rows, row, all, v);
    const double k = kernel_value(settings.kernel, dot, std::max(0.0, norm + squared_norm(all, v) - 2 * dot));
    for (int64_t p = 0; p < problems(); ++p)
      sums[static_cast<size_t>(p)] += double{coefficients[static_cast<size_t>(p * n_vectors() + v)]} * k;
  }
  for (size_t p = 0; p < sums.size(); ++p) decisions[p] = static_cast<float>(sums[p] - double{rho[p]});
}

}  // namespace mokume::svc
