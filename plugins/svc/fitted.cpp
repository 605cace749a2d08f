#include "fitted.hpp"

#include <algorithm>
#include <cmath>

#include "matrix/distances.hpp"
#include "rows.hpp"
#include "sdk/ops.hpp"
#include "sdk/portable.hpp"
#include "sparse/sparse_products.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kRowBlock = 1024;
constexpr int64_t kVectorBlock = 8192;
// Bounds the rounding error of an fp32 kernel value relative to its terms, with a margin for blocked sums and one exp.
constexpr double kKernelError = 16 * 0x1p-24;

double norm2(const float* x, int64_t d) {
  double sum = 0;
  for (int64_t f = 0; f < d; ++f) sum += static_cast<double>(x[f]) * static_cast<double>(x[f]);
  return sum;
}

// Returns the sum of term(x[f], y[f]) from eight partial sums, so that additions do not wait for each other.
template <class Term>
double sum_of(const float* x, const float* y, int64_t d, Term&& term) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t f = 0;
  for (; f + kSums <= d; f += kSums)
    for (int64_t t = 0; t < kSums; ++t) sums[t] += term(double{x[f + t]}, double{y[f + t]});
  for (; f < d; ++f) sums[0] += term(double{x[f]}, double{y[f]});
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

double distance_of(Pairs pairs, const float* x, const float* y, int64_t d) {
  if (pairs == Pairs::manhattan) return sum_of(x, y, d, [](double a, double b) { return std::fabs(a - b); });
  return sum_of(x, y, d, [](double a, double b) { return a + b > 0 ? (a - b) * (a - b) / (a + b) : 0; });
}

// Bounds the error of an fp32 kernel value for two vectors with squared norms of at most `norm`. A dot product has an
// error of at most a multiple of |x| |y| (Higham, Accuracy and Stability of Numerical Algorithms, 2002, equation 3.5).
double value_error(const Kernel& k, double norm, int64_t features) {
  // A distance is a sum of terms of one sign, so its error is relative to itself, and gamma * d * exp(-gamma * d) < 1.
  if (k.pairs != Pairs::products) return kKernelError * (1 + static_cast<double>(features) / 64);
  switch (k.kind) {
    case ops::KernelKind::linear:
      return kKernelError * norm;
    case ops::KernelKind::polynomial: {
      const double base = k.gamma * norm + std::fabs(k.coef0);
      return kKernelError * std::max<int64_t>(1, k.degree) * sdk::portable::power(base, k.degree);
    }
    case ops::KernelKind::rbf:
    case ops::KernelKind::rbf_minus_one:
      return kKernelError * (1 + 4 * k.gamma * norm);
    case ops::KernelKind::sigmoid:
      return kKernelError * (1 + k.gamma * norm);
  }
  return 0;
}

// Distances stand for products of rows whose norms are 0.
void write_norms(const sdk::Device& device, const mk_tensor& rows, const sdk::Buffer& norms, bool products) {
  const mk_tensor to = sdk::vector(norms.get(), rows.rows);
  device.submit(products ? ops::row_norm2(rows, to) : ops::fill(to, 0.0F));
}

}  // namespace

double kernel_value(const Kernel& k, const float* x, const float* y, int64_t d) {
  if (k.pairs != Pairs::products) return sdk::portable::exp(-k.gamma * distance_of(k.pairs, x, y, d));
  if (ops::needs_norms(k.kind))
    return kernel_value(k, 0, sum_of(x, y, d, [](double a, double b) { return (a - b) * (a - b); }));
  return kernel_value(k, sum_of(x, y, d, [](double a, double b) { return a * b; }), 0);
}

double kernel_value(const ops::KernelFunction& k, double dot, double distance) {
  switch (k.kind) {
    case ops::KernelKind::linear:
      return dot;
    case ops::KernelKind::polynomial:
      return sdk::portable::power(k.gamma * dot + k.coef0, k.degree);
    case ops::KernelKind::rbf:
      return sdk::portable::exp(-k.gamma * distance);
    case ops::KernelKind::rbf_minus_one:
      return sdk::portable::exp(-k.gamma * distance) - 1;
    case ops::KernelKind::sigmoid:
      return sdk::portable::tanh(k.gamma * dot + k.coef0);
  }
  return 0;
}

// Returns the sum of |coefficient| for each problem.
std::vector<double> Fitted::coefficient_sums() const {
  std::vector<double> sums;
  for (int64_t p = 0; p < problems(); ++p) {
    double sum = 0;
    for (int64_t v = 0; v < n_vectors(); ++v)
      sum += std::fabs(static_cast<double>(coefficients[static_cast<size_t>(p * n_vectors() + v)]));
    sums.push_back(sum);
  }
  return sums;
}

double Fitted::largest_norm2() const {
  double largest = 0;
  if (keeps_sparse) {
    for (const float norm : squared_norms(sparse)) largest = std::max(largest, double{norm});
    return largest;
  }
  for (int64_t v = 0; v < n_vectors(); ++v) largest = std::max(largest, norm2(vectors.data() + v * features, features));
  return largest;
}

// Returns whether rounding may change the class of a row. `error` bounds the error of each of its kernel values.
bool Fitted::in_doubt(const float* decisions, const std::vector<double>& sums, double error) const {
  float first = -INFINITY, second = -INFINITY, widest = 0;
  for (size_t p = 0; p < sums.size(); ++p) {
    const auto bound = static_cast<float>(sums[p] * error);
    if (std::fabs(decisions[p]) <= bound) return true;
    second = std::max(second, std::min(first, decisions[p]));
    first = std::max(first, decisions[p]);
    widest = std::max(widest, bound);
  }
  return sums.size() > 1 && settings.multiclass == Multiclass::one_vs_rest && first - second <= 2 * widest;
}

// Returns rho for decision values that are computed with without_one(kernel).
std::vector<float> Fitted::rho_without_one() const {
  std::vector<float> shifted;
  for (int64_t p = 0; p < problems(); ++p) {
    double ones = 0;
    for (int64_t v = 0; v < n_vectors() && settings.kernel.kind == ops::KernelKind::rbf; ++v)
      ones += static_cast<double>(coefficients[static_cast<size_t>(p * n_vectors() + v)]);
    shifted.push_back(static_cast<float>(static_cast<double>(rho[static_cast<size_t>(p)]) - ones));
  }
  return shifted;
}

void Fitted::decide_in_double(const float* x, float* decisions) const {
  std::vector<double> sums(static_cast<size_t>(problems()), 0.0);
  for (int64_t v = 0; v < n_vectors(); ++v) {
    const double k = kernel_value(settings.kernel, x, vectors.data() + v * features, features);
    for (int64_t p = 0; p < problems(); ++p)
      sums[static_cast<size_t>(p)] += static_cast<double>(coefficients[static_cast<size_t>(p * n_vectors() + v)]) * k;
  }
  for (size_t p = 0; p < sums.size(); ++p) decisions[p] = static_cast<float>(sums[p] - static_cast<double>(rho[p]));
}

void Fitted::predict(const sdk::Host& host, const sdk::Device& device, const float* x, int64_t rows, int32_t* labels,
                     float* scores) const {
  const int64_t p = problems(), d = features, nv = std::max<int64_t>(n_vectors(), 1);
  const int64_t row_block = std::min(rows, kRowBlock), vector_block = std::min(nv, kVectorBlock);
  if (rows == 0) return;
  if (keeps_sparse) {
    SparseRows converted;
    for (int64_t r = 0; r < rows; ++r) converted.append_dense(x + r * d, d);
    return predict_with_sparse_vectors(host, device, converted.view(d), labels, scores);
  }
  check_inputs(settings.kernel, x, rows, d, "row");
  const ops::KernelFunction kernel = ops::without_one(settings.kernel);
  const bool products = settings.kernel.pairs == Pairs::products;
  Distances distances(host, device);
  const sdk::Buffer sv = device.buffer<float>(static_cast<uint64_t>(vector_block * d));
  const sdk::Buffer sv_norms = device.buffer<float>(static_cast<uint64_t>(vector_block));
  const sdk::Buffer coef = device.buffer<float>(static_cast<uint64_t>(p * vector_block));
  const sdk::Buffer xs = device.buffer<float>(static_cast<uint64_t>(row_block * d));
  const sdk::Buffer x_norms = device.buffer<float>(static_cast<uint64_t>(row_block));
  const sdk::Buffer dots = device.buffer<float>(static_cast<uint64_t>(row_block * vector_block));
  const sdk::Buffer out = device.buffer<float>(static_cast<uint64_t>(row_block * p));
  std::vector<float> sums(static_cast<size_t>(rows * p), 0.0F);
  std::vector<float> block(static_cast<size_t>(row_block * p));
  std::vector<float> part(static_cast<size_t>(p * vector_block));

  for (int64_t v = 0; v < n_vectors(); v += vector_block) {
    const int64_t nb = std::min(vector_block, n_vectors() - v);
    device.write(sv, vectors.data() + v * d, static_cast<uint64_t>(nb * d));
    for (int64_t k = 0; k < p; ++k) std::copy_n(coefficients.data() + k * n_vectors() + v, nb, part.data() + k * nb);
    device.write(coef, part.data(), static_cast<uint64_t>(p * nb));
    const mk_tensor sv_view = sdk::matrix(sv.get(), nb, d);
    write_norms(device, sv_view, sv_norms, products);
    for (int64_t r = 0; r < rows; r += row_block) {
      const int64_t rb = std::min(row_block, rows - r);
      device.write(xs, x + r * d, static_cast<uint64_t>(rb * d));
      const mk_tensor x_view = sdk::matrix(xs.get(), rb, d);
      const mk_tensor dot = sdk::matrix(dots.get(), rb, nb);
      write_norms(device, x_view, x_norms, products);
      distances.compute(settings.kernel.pairs, x_view, sv_view, dot);
      device.submit(ops::kernel_map(dot, sdk::vector(x_norms.get(), rb), sdk::vector(sv_norms.get(), nb), dot, kernel));
      device.submit(ops::gemm(dot, false, sdk::matrix(coef.get(), p, nb), true, sdk::matrix(out.get(), rb, p)));
      device.read(out, block.data(), static_cast<uint64_t>(rb * p));
      for (int64_t k = 0; k < rb * p; ++k) sums[static_cast<size_t>(r * p + k)] += block[static_cast<size_t>(k)];
    }
  }
  conclude(
      std::move(sums), rows, [&](int64_t r) { return norm2(x + r * d, d); },
      [&](int64_t r, float* decisions) { decide_in_double(x + r * d, decisions); }, labels, scores);
}

void Fitted::conclude(std::vector<float> sums, int64_t rows, const std::function<double(int64_t)>& squared_norm,
                      const std::function<void(int64_t, float*)>& decide, int32_t* labels, float* scores) const {
  const int64_t p = problems();
  const std::vector<double> sizes = coefficient_sums();
  const std::vector<float> offset = rho_without_one();
  const double largest = largest_norm2();
  for (int64_t r = 0; r < rows; ++r) {
    float* row = sums.data() + r * p;
    for (int64_t k = 0; k < p; ++k) row[k] = (row[k] - offset[static_cast<size_t>(k)]) + 0.0F;  // never -0
    if (regression()) continue;
    const double error = value_error(settings.kernel, std::max(largest, squared_norm(r)), features);
    if (in_doubt(row, sizes, error)) decide(r, row);
    labels[r] = predict_class(row, classes(), settings);
  }
  if (scores != nullptr) std::copy(sums.begin(), sums.end(), scores);
}

}  // namespace mokume::svc
