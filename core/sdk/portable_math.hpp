// Defines functions of doubles that give the same bits on all machines. Those of the C library do not: their last bits
// depend on its version and on the instructions of the processor. All operations here are sums, products and quotients,
// which are rounded one by one (-ffp-contract=off), and exact ones. Errors are below 1 ulp for exp and log, and below 4
// ulp for log1p and tanh.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mokume::sdk::portable {
namespace detail {

// Two parts of the natural logarithm of 2. The first has 33 bits, so its product with an exponent is exact.
inline constexpr double kLn2 = 0x1.62e42feep-1, kLn2Rest = 0x1.a39ef35793c76p-33;

inline constexpr int kTerms = 14;
inline constexpr std::array<double, kTerms + 1> kInverseFactorials = [] {
  std::array<double, kTerms + 1> values{1};
  for (int k = 1; k <= kTerms; ++k) values[k] = values[k - 1] / k;
  return values;
}();

// Returns exp(r) - 1 - r for |r| <= ln 2 / 2, by Taylor's series.
inline double exp_beyond_linear(double r) {
  double sum = kInverseFactorials[kTerms];
  for (int k = kTerms - 1; k > 1; --k) sum = sum * r + kInverseFactorials[k];
  return sum * (r * r);
}

}  // namespace detail

inline double exp(double x) {
  if (!(x < 710)) return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double n = std::floor(x * 0x1.71547652b82fep+0 + 0.5);
  const double high = x - n * detail::kLn2, low = n * detail::kLn2Rest, r = high - low;
  const double rest = (high - r) - low;  // of r
  return std::ldexp(1 + (r + (detail::exp_beyond_linear(r) + rest)), static_cast<int>(n));
}

// Returns exp(x) - 1 for |x| <= ln 2 / 2, with the digits that the difference would lose.
inline double expm1_of_small(double x) { return x + detail::exp_beyond_linear(x); }

// Returns the logarithm of a positive number: x = 2^n * m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f / (2 + f),
// and log(1 + f) = f - (f^2 / 2 - s * (f^2 / 2 + R)), where R = 2 s^2 / 3 + 2 s^4 / 5 + ...
inline double log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  int n = 0;
  double m = std::frexp(x, &n);  // in [1/2, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --n;
  }
  const double f = m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  double sum = 0;
  for (int k = 25; k > 1; k -= 2) sum = (2.0 / k + sum) * z;
  return n * detail::kLn2 - ((half - (s * (half + sum) + n * detail::kLn2Rest)) - f);
}

// Returns log(1 + x) for x > -1 (W. Kahan).
inline double log1p(double x) {
  const double sum = 1 + x;
  return sum == 1 ? x : log(sum) * x / (sum - 1);
}

inline double tanh(double x) {
  const double a = std::fabs(x);
  if (!(a < 20)) return std::isnan(x) ? x : std::copysign(1.0, x);
  const double more = a < 0.17 ? expm1_of_small(2 * a) : exp(2 * a) - 1;
  return std::copysign(more / (more + 2), x);
}

// Returns x to the power of n >= 0.
inline double power(double x, int64_t n) {
  double result = 1;
  for (double square = x; n > 0; n >>= 1, square *= square)
    if ((n & 1) != 0) result *= square;
  return result;
}

}  // namespace mokume::sdk::portable
