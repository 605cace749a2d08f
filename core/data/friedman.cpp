#include "data/friedman.hpp"

// Draws a synthetic regression table. Many columns are noisy mixtures of ten hidden factors; the target is a nonlinear
// function of five of the factors.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sdk/philox.hpp"
#include "sdk/portable.hpp"

namespace mokume::data {
namespace {

constexpr int64_t kFriedmanTrainRows = 4096, kFriedmanTestRows = 1024;
constexpr uint32_t kFeatures = 4777;  // a network with two layers of 100 units gets 488,001 parameters
constexpr uint32_t kFactors = 10;
constexpr uint64_t kFriedmanSeed = 1991;

using Factors = std::array<double, kFactors>;

// Computes equation 61 of J. Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics 19 (1991). With
// uniform factors, its variance is 23.8. The noise adds 1, which no model can explain.
double target_of(const Factors& z, double noise) {
  const double bend = z[2] - 0.5;
  return 10 * sdk::portable::cos_pi(std::fabs(z[0] * z[1] - 0.5)) + 20 * bend * bend + 10 * z[3] + 5 * z[4] + noise;
}

// Returns noise of mean 0 and variance 1, always within +-3.5. Uses only +, - and *, so that all platforms agree.
double noise_of(const sdk::Random& random, uint32_t first) {
  double sum = -2;
  for (uint32_t k = 0; k < 4; ++k) sum += random.uniform(first + k);
  return sum * std::numbers::sqrt3;
}

std::vector<float> mixtures() {
  const sdk::Random random(kFriedmanSeed, sdk::Purpose::friedman, 2);
  std::vector<float> weights(size_t{kFeatures} * kFactors);
  for (uint32_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(2 * random.uniform(i) - 1);
  return weights;
}

}  // namespace

RawTable draw_friedman(bool test, int64_t limit) {
  const int64_t all = test ? kFriedmanTestRows : kFriedmanTrainRows;
  RawTable part;
  part.path = "friedman";
  part.table.rows = limit > 0 ? std::min(limit, all) : all;
  part.table.features = kFeatures;
  part.table.x.resize(static_cast<size_t>(part.table.rows) * kFeatures);
  const std::vector<float> weights = mixtures();
  for (int64_t r = 0; r < all; ++r) {
    const sdk::Random random(kFriedmanSeed, sdk::Purpose::friedman, test ? 1 : 0, static_cast<uint32_t>(r));
    Factors z;
    for (uint32_t k = 0; k < kFactors; ++k) z[k] = random.uniform(k);
    part.labels.values.push_back(static_cast<float>(target_of(z, noise_of(random, kFactors))));
    if (r >= part.table.rows) continue;
    float* x = part.table.x.data() + r * kFeatures;
    for (uint32_t f = 0; f < kFeatures; ++f) {
      double sum = random.uniform(kFactors + 4 + f) - 0.5;
      for (uint32_t k = 0; k < kFactors; ++k) sum += static_cast<double>(weights[f * kFactors + k]) * (z[k] - 0.5);
      x[f] = static_cast<float>(sum);
    }
  }
  return part;
}

}  // namespace mokume::data
