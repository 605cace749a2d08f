#include "calibration.hpp"

#include <algorithm>
#include <cmath>

#include "sdk/portable.hpp"

namespace mokume::svc {

namespace portable = sdk::portable;

double sigmoid(const mk_sigmoid& s, double decision) {
  const double z = s.a * decision + s.b;
  return z >= 0 ? portable::exp(-z) / (1 + portable::exp(-z)) : 1 / (1 + portable::exp(z));
}

namespace {

constexpr int kMostSteps = 100;
constexpr double kSmallestStep = 1e-10, kRidge = 1e-12, kSmallGradient = 1e-5;

// Returns log(1 + exp(z)) without overflow.
double softplus(double z) { return z > 0 ? z + portable::log1p(portable::exp(-z)) : portable::log1p(portable::exp(z)); }

// Computes the negative log-likelihood of the smoothed targets.
struct Likelihood {
  std::span<const double> decisions;
  const std::vector<bool>& positive;
  double high = 1, low = 0;  // targets of positive and of negative rows

  double target(size_t row) const { return positive[row] ? high : low; }
  double loss(const mk_sigmoid& s) const {
    double sum = 0;
    for (size_t r = 0; r < decisions.size(); ++r) {
      const double z = s.a * decisions[r] + s.b;
      sum += target(r) * z + softplus(-z);
    }
    return sum;
  }
};

struct Derivatives {
  double a = 0, b = 0, aa = kRidge, bb = kRidge, ab = 0;

  Derivatives(const Likelihood& likelihood, const mk_sigmoid& s) {
    for (size_t r = 0; r < likelihood.decisions.size(); ++r) {
      const double d = likelihood.decisions[r], p = sigmoid(s, d);
      const double first = likelihood.target(r) - p, second = p * (1 - p);
      a += d * first;
      b += first;
      aa += d * d * second;
      bb += second;
      ab += d * second;
    }
  }
};

}  // namespace

mk_sigmoid fit_sigmoid(std::span<const double> decisions, const std::vector<bool>& positive) {
  const auto yes = static_cast<double>(std::count(positive.begin(), positive.end(), true));
  const double no = static_cast<double>(positive.size()) - yes;
  mk_sigmoid s{0, portable::log((no + 1) / (yes + 1))};
  if (yes == 0 || no == 0) return s;
  const Likelihood likelihood{decisions, positive, (yes + 1) / (yes + 2), 1 / (no + 2)};
  double loss = likelihood.loss(s);
  for (int i = 0; i < kMostSteps; ++i) {
    const Derivatives d(likelihood, s);
    if (std::abs(d.a) < kSmallGradient && std::abs(d.b) < kSmallGradient) break;
    const double determinant = d.aa * d.bb - d.ab * d.ab;
    const double to_a = -(d.bb * d.a - d.ab * d.b) / determinant, to_b = -(d.aa * d.b - d.ab * d.a) / determinant;
    const double slope = d.a * to_a + d.b * to_b;
    double step = 1;
    for (; step >= kSmallestStep; step /= 2) {
      const mk_sigmoid next{s.a + step * to_a, s.b + step * to_b};
      const double reached = likelihood.loss(next);
      if (!(reached < loss + 1e-4 * step * slope)) continue;
      s = next;
      loss = reached;
      break;
    }
    if (step < kSmallestStep) break;  // rounding prevents further progress
  }
  return s;
}

std::vector<double> couple_pairs(std::span<const double> pairs, size_t classes) {
  const size_t k = classes;
  std::vector<double> q(k * k), p(k, 1.0 / static_cast<double>(k)), qp(k);
  size_t pair = 0;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = i + 1; j < k; ++j, ++pair) {
      const double first = std::clamp(pairs[pair], 1e-7, 1 - 1e-7), second = 1 - first;
      q[i * k + i] += second * second;
      q[j * k + j] += first * first;
      q[i * k + j] = q[j * k + i] = -first * second;
    }
  const double enough = 0.005 / static_cast<double>(k);
  for (int i = 0; i < kMostSteps; ++i) {
    double pqp = 0, worst = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) worst = std::max(worst, std::abs(qp[t] - pqp));
    if (worst < enough) break;
    for (size_t t = 0; t < k; ++t) {
      const double diagonal = q[t * k + t], more = (pqp - qp[t]) / diagonal, whole = 1 + more;
      p[t] += more;
      pqp = (pqp + more * (more * diagonal + 2 * qp[t])) / (whole * whole);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + more * q[t * k + j]) / whole;
        p[j] /= whole;
      }
    }
  }
  return p;
}

void calibrate(const mk_validated& rows, int64_t n, size_t classes, mk_sigmoid* to) {
  const bool rest = rows.score_kind == MK_SCORES_ONE_VS_REST;
  size_t k = 0;
  // Decision value k separates class a from class b, or from all others if b is a.
  for (size_t a = 0; a < classes; ++a)
    for (size_t b = rest ? a : a + 1; b < (rest ? a + 1 : classes); ++b, ++k) {
      std::vector<double> decisions;
      std::vector<bool> positive;
      for (int64_t r = 0; r < n; ++r) {
        const auto label = static_cast<size_t>(rows.labels[r]);
        if (a != b && label != a && label != b) continue;
        decisions.push_back(static_cast<double>(rows.scores[static_cast<size_t>(r) * rows.scores_per_row + k]));
        positive.push_back(label == a);
      }
      to[k] = fit_sigmoid(decisions, positive);
    }
}

void probabilities(std::span<const mk_sigmoid> sigmoids, mk_score_kind kind, const float* row, size_t classes,
                   double* to) {
  std::vector<double> p;
  for (size_t k = 0; k < sigmoids.size(); ++k) p.push_back(sigmoid(sigmoids[k], static_cast<double>(row[k])));
  if (kind == MK_SCORES_ONE_VS_ONE) p = couple_pairs(p, classes);
  double sum = 0;
  for (const double one : p) sum += one;
  for (size_t c = 0; c < classes; ++c) to[c] = sum > 0 ? p[c] / sum : 1 / static_cast<double>(classes);
}

}  // namespace mokume::svc
