// Defines functions of doubles that give the same bits on all machines. Those of the C library do not: their last bits
// depend on its version and on the processor. All operations here are exact, or sums, products and quotients that are
// rounded one by one (-ffp-contract=off). Errors are below 1 ulp for exp and log, and below 4 ulp for log1p and tanh.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mokume::sdk::portable {

// Two parts of the logarithm of 2. The first has 33 bits, so its product with an exponent is exact.
inline constexpr double kLn2 = 0x1.62e42feep-1, kLn2Rest = 0x1.a39ef35793c76p-33;

// Returns exp(r) - 1 - r for |r| <= ln 2 / 2, by Taylor's series.
inline double exp_beyond_linear(double r) {
  constexpr auto kInverseFactorials = [] {
    std::array<double, 15> values{1};
    for (size_t k = 1; k < values.size(); ++k) values[k] = values[k - 1] / static_cast<double>(k);
    return values;
  }();
  double sum = 0;
  for (size_t k = kInverseFactorials.size() - 1; k > 1; --k) sum = sum * r + kInverseFactorials[k];
  return sum * (r * r);
}

inline double exp(double x) {
  if (!(x < 710)) return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double n = std::floor(x * 0x1.71547652b82fep+0 + 0.5);
  const double high = x - n * kLn2, low = n * kLn2Rest, r = high - low, rest_of_r = (high - r) - low;
  return std::ldexp(1 + (r + (exp_beyond_linear(r) + rest_of_r)), static_cast<int>(n));
}

// Computes x = 2^n * m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f / (2 + f), and log(1 + f) =
// f - (f^2 / 2 - s * (f^2 / 2 + R)), where R = 2 s^2 / 3 + 2 s^4 / 5 + ...
inline double log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  int n = 0;
  const double fraction = std::frexp(x, &n);  // in [1/2, 1)
  const bool small = fraction < 0x1.6a09e667f3bcdp-1;
  n -= small ? 1 : 0;
  const double f = (small ? 2 * fraction : fraction) - 1, s = f / (2 + f), half = 0.5 * f * f;
  double sum = 0;
  for (int k = 25; k > 1; k -= 2) sum = (2.0 / k + sum) * (s * s);
  return n * kLn2 - ((half - (s * (half + sum) + n * kLn2Rest)) - f);
}

// Returns log(1 + x) for x > -1 (W. Kahan).
inline double log1p(double x) { return 1 + x == 1 ? x : log(1 + x) * x / ((1 + x) - 1); }

inline double tanh(double x) {
  const double a = std::fabs(x);
  if (!(a < 20)) return std::isnan(x) ? x : std::copysign(1.0, x);
  const double more = a < 0.17 ? 2 * a + exp_beyond_linear(2 * a) : exp(2 * a) - 1;
  return std::copysign(more / (more + 2), x);
}

// Returns x to the power of n >= 0.
inline double power(double x, int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1, x *= x) result *= (n & 1) != 0 ? x : 1;
  return result;
}

}  // namespace mokume::sdk::portable
