#include "network/whitening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mokume::cnn {
namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr size_t kMostRows = 5000;
constexpr double kAdded = 1e-4;  // to eigenvalues, as in the paper

// Returns the place of each number of a patch, relative to the patch's first pixel.
std::vector<int64_t> places_of(const Shape& patch, const Shape& image) {
  std::vector<int64_t> places;
  for (int64_t y = 0; y < patch.height; ++y)
    for (int64_t x = 0; x < patch.width; ++x)
      for (int64_t c = 0; c < patch.channels; ++c) places.push_back((y * image.width + x) * image.channels + c);
  return places;
}

// Returns the mean of the products of all pairs of numbers of a patch.
Matrix mean_products(const sdk::Host& host, const Shape& patch, const Shape& image, const float* x,
                     std::span<const int32_t> rows) {
  const std::vector<int64_t> places = places_of(patch, image);
  const size_t n = places.size();
  const int64_t down = image.height - patch.height + 1, across = image.width - patch.width + 1;
  Matrix sums(n, std::vector<double>(n));
  host.parallel_for(n, [&](uint64_t i) {
    for (const int32_t row : rows)
      for (int64_t top = 0; top < down; ++top)
        for (int64_t left = 0; left < across; ++left) {
          const float* const from = x + row * image.elements() + (top * image.width + left) * image.channels;
          const double own = from[places[i]];
          for (size_t j = 0; j <= i; ++j) sums[i][j] += own * from[places[j]];
        }
  });
  const double count = double(rows.size()) * double(down) * double(across);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) sums[j][i] = sums[i][j] = sums[i][j] / count;
  return sums;
}

// Turns rows and columns p and q of the symmetric matrix `a` so that a[p][q] becomes 0, and follows in `vectors`.
void rotate(Matrix& a, Matrix& vectors, size_t p, size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  const auto turn = [&](double& of_p, double& of_q) {
    const double kept = of_p;
    of_p = c * kept - s * of_q;
    of_q = s * kept + c * of_q;
  };
  for (std::vector<double>& row : a) turn(row[p], row[q]);
  for (size_t k = 0; k < a.size(); ++k) turn(a[p][k], a[q][k]);
  for (std::vector<double>& row : vectors) turn(row[p], row[q]);
}

}  // namespace

// Uses Jacobi's method, whose sweeps converge quadratically.
std::vector<float> whitening_values(const sdk::Host& host, const Parameter& weight, const Shape& image, const float* x,
                                    std::span<const int32_t> rows) {
  constexpr int kSweeps = 12;
  Matrix products = mean_products(host, weight.in, image, x, rows.first(std::min(rows.size(), kMostRows)));
  const size_t n = products.size();
  Matrix vectors(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) rotate(products, vectors, p, q);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return products[a][a] > products[b][b]; });
  std::vector<float> values(size_t(weight.size()));
  for (size_t k = 0; k < n; ++k) {
    const size_t v = order[k];
    // The largest element of an eigenvector is positive.
    size_t largest = 0;
    for (size_t i = 1; i < n; ++i)
      if (std::fabs(vectors[i][v]) > std::fabs(vectors[largest][v])) largest = i;
    const double sign = vectors[largest][v] < 0 ? -1 : 1;
    const double scale = sign / std::sqrt(std::max(0.0, products[v][v]) + kAdded);
    for (size_t i = 0; i < n; ++i) {
      const auto value = float(vectors[i][v] * scale);
      values[i * 2 * n + k] = value;
      values[i * 2 * n + n + k] = -value;
    }
  }
  return values;
}

}  // namespace mokume::cnn
