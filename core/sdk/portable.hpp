// Defines functions of doubles that give the same bits on every machine.
//
// The C library's functions do not: glibc takes other code on processors with fused multiply-adds, and every release
// may change last bits. These functions consist of sums, products and quotients of doubles, which are rounded one by
// one
// (-ffp-contract=off), and of exact operations, so their bits depend on nothing else.
//
// exp and log have errors below 1 ulp, log1p and tanh below 4 ulp. pow, log10, cos_pi and erfc compute with pairs of
// doubles (T. J. Dekker: A floating-point technique for extending the available precision. Numerische Mathematik 18,
// 1971) to about 100 bits before they round, so nearly all their results are correctly rounded. They take up to a
// microsecond.
#pragma once

#include <array>
#include <bit>
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

// Holds an unevaluated sum of two doubles, |low| <= ulp(high) / 2.
struct Pair {
  double high, low = 0;
};

inline Pair exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
// Splits the factors into halves of 26 bits, so that their products are exact. Requires |a|, |b| < 2^990.
inline Pair exact_product(double a, double b) {
  constexpr double kSplit = 134217729;  // 2^27 + 1
  const double a_high = kSplit * a - (kSplit * a - a), a_low = a - a_high;
  const double b_high = kSplit * b - (kSplit * b - b), b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}
inline Pair normalised(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}
inline Pair operator+(const Pair& a, const Pair& b) {
  const Pair sum = exact_sum(a.high, b.high), rest = exact_sum(a.low, b.low);
  const Pair more = normalised(sum.high, sum.low + rest.high);
  return normalised(more.high, more.low + rest.low);
}
inline Pair operator*(const Pair& a, const Pair& b) {
  const Pair product = exact_product(a.high, b.high);
  return normalised(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Pair operator/(const Pair& a, double b) {
  const double first = a.high / b;
  const Pair back = exact_product(first, b);
  return normalised(first, ((a.high - back.high) - back.low + a.low) / b);
}

inline constexpr Pair kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr Pair kPairOfLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// Returns x * 2^power in at most two steps, so that subnormal results are rounded once.
inline double scaled(double x, int64_t power) {
  const auto of_two = [](int64_t n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); };
  const int64_t half = power / 2;
  return x * of_two(half) * of_two(power - half);
}

// Holds mantissa * 2^power.
struct Scaled {
  Pair mantissa;
  int64_t power;
};

// Requires |x| < 800. exp(x) = 2^n exp(r / 256)^256 with |r| <= ln 2 / 2.
inline Scaled exp_of(const Pair& x) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  const double n = (x.high * 1.4426950408889634 + kRound) - kRound;
  // kPairOfLn2 has 107 bits. |n| < 2^11, so n ln 2 is exact to 2^-94.
  const Pair r = x + Pair{-n, 0} * kPairOfLn2;
  const Pair t{r.high / 256, r.low / 256};
  // exp(t) - 1, where t^11 / 11! < 2^-130; the sum without its 1 keeps its digits when it is squared.
  Pair sum{0, 0};
  for (int k = 10; k >= 1; --k) sum = t * (Pair{1, 0} + sum) / k;
  for (int k = 0; k < 8; ++k) sum = sum * (Pair{2, 0} + sum);  // (1 + s)^2 - 1 = s (2 + s)
  return {Pair{1, 0} + sum, static_cast<int64_t>(n)};
}

// Returns log(x) for finite x > 0: refines a double y by log(x) = y + log(x exp(-y)).
inline Pair log_of(double x) {
  int power = 0;
  double m = std::frexp(x, &power);  // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --power;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int k = 25; k >= 1; k -= 2) series = series * square + 1.0 / k;
  const double y = 2 * s * series;  // log(m), to about 2^-50
  const Scaled e = exp_of({-y, 0});
  const Pair z = Pair{scaled(m, e.power), 0} * e.mantissa, d = z + Pair{-1, 0};
  // log(1 + d) = d - d^2 / 2 + d^3 / 3, where |d| < 2^-45
  const Pair more = d + Pair{-0.5, 0} * d * d + Pair{d.high * d.high * d.high / 3, 0};
  return Pair{static_cast<double>(power), 0} * kPairOfLn2 + (Pair{y, 0} + more);
}

inline double rounded(const Scaled& s) {
  constexpr int64_t kLeast = -1000;
  if (s.power > 1025) return std::numeric_limits<double>::infinity();
  if (s.power < -1080) return 0;
  // A subnormal result is rounded by the multiplication; the low part then is far below its last bit.
  return s.power < kLeast ? scaled(s.mantissa.high + s.mantissa.low, s.power)
                          : scaled(s.mantissa.high, s.power) + scaled(s.mantissa.low, s.power);
}

}  // namespace detail

inline double exp(double x) {
  if (!(x < 710)) return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double n = std::floor(x * 0x1.71547652b82fep+0 + 0.5);
  const double high = x - n * detail::kLn2, low = n * detail::kLn2Rest, r = high - low;
  const double rest = (high - r) - low;  // r rounds this off
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

inline double log10(double x) {
  if (!(x > 0) || std::isinf(x)) return portable::log(x);
  constexpr detail::Pair kPerLn{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};  // 1 / ln 10
  const detail::Pair log = detail::log_of(x) * kPerLn;
  return log.high + log.low;
}

// Returns base^exponent for base >= 0. Powers that doubles hold exactly, such as 10^2, are exact.
inline double pow(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (std::isnan(base) || std::isnan(exponent) || base < 0) return std::numeric_limits<double>::quiet_NaN();
  if (base == 0 || std::isinf(base) || std::isinf(exponent)) return std::pow(base, exponent);  // exact limits
  const detail::Pair log = detail::log_of(base);
  if (std::fabs(log.high) > 800 / std::fabs(exponent))
    return (log.high > 0) == (exponent > 0) ? std::numeric_limits<double>::infinity() : 0;
  return detail::rounded(detail::exp_of(log * detail::Pair{exponent, 0}));
}

// Returns cos(pi * x) for 0 <= x <= 1.
inline double cos_pi(double x) {
  using detail::Pair;
  if (x == 0.5) return 0;
  const bool upper = x > 0.5;
  const double inner = upper ? 1 - x : x;  // exact, because x > 1 / 2
  const Pair a = detail::kPi * Pair{inner, 0}, square = a * a;
  Pair sum{0, 0};
  for (int k = 28; k >= 2; k -= 2) sum = (Pair{1, 0} + sum) * (square / -static_cast<double>(k * (k - 1)));
  const Pair cosine = Pair{1, 0} + sum;
  const double value = cosine.high + cosine.low;
  return upper ? -value : value;
}

// Returns 1 - erf(x), with an absolute error of about 1e-30: erf(x) is 2 / sqrt(pi) exp(-x^2) times the sum of
// 2^k x^(2k + 1) / (1 * 3 * ... * (2k + 1)).
inline double erfc(double x) {
  using detail::Pair;
  if (std::isnan(x)) return x;
  if (std::fabs(x) > 8) return x > 0 ? 0 : 2;  // erfc(8) is 1e-29
  constexpr Pair kTwoPerRootPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
  const double a = std::fabs(x);
  const Pair square = detail::exact_product(a, a);
  Pair sum{0, 0};
  for (int k = 220; k >= 1; --k) sum = (Pair{1, 0} + sum) * square * Pair{2, 0} / (2.0 * k + 1);
  const detail::Scaled e = detail::exp_of({-square.high, -square.low});
  const Pair scale = Pair{detail::scaled(e.mantissa.high, e.power), detail::scaled(e.mantissa.low, e.power)};
  const Pair erf = kTwoPerRootPi * (Pair{1, 0} + sum) * Pair{a, 0} * scale;
  const Pair rest = x > 0 ? Pair{1, 0} + Pair{-erf.high, -erf.low} : Pair{1, 0} + erf;
  return rest.high + rest.low;
}

}  // namespace mokume::sdk::portable
