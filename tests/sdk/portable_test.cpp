#include "sdk/portable.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/files.hpp"
#include "sdk/philox.hpp"

namespace mokume {
namespace {

namespace portable = sdk::portable;
using Function = double (*)(double);
using Wide = long double (*)(long double);

// Spreads numbers evenly from `low` to `high`.
double draw(uint64_t i, double low, double high) {
  return low + (high - low) * sdk::Random(48, sdk::Purpose::friedman, 9).uniform(i);
}

double ulps(double got, long double want) {
  const long double ulp = std::ldexp(1.0L, std::ilogb(static_cast<double>(want)) - 52);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - want) / ulp));
}

double worst(Function function, Wide wide, double low, double high) {
  double most = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const double x = draw(i, low, high);
    most = std::max(most, ulps(function(x), wide(static_cast<long double>(x))));
  }
  return most;
}

// The C library's long double, which has at least 64 bits, is the reference, with an error below 0.01 ulp of a double.
TEST(Portable, rounds_correctly) {
  constexpr double kHalf = 0.51;
  EXPECT_LT(worst(portable::exp, std::exp, -700, 700), kHalf);
  EXPECT_LT(worst(portable::exp, std::exp, -1, 1), kHalf);
  EXPECT_LT(worst(portable::log, std::log, 1e-300, 1), kHalf);
  EXPECT_LT(worst(portable::log, std::log, 0.5, 2), kHalf);
  EXPECT_LT(worst(portable::log10, std::log10, 1e-5, 1e5), kHalf);
  EXPECT_LT(worst(portable::erfc, std::erfc, -6, 5), kHalf);
  EXPECT_LT(worst([](double x) { return portable::pow(10, x); }, [](long double x) { return std::pow(10.0L, x); }, -12, 12),
            kHalf);
  EXPECT_LT(worst([](double x) { return portable::pow(x, 0.37); },
                  [](long double x) { return std::pow(x, static_cast<long double>(0.37)); }, 1e-4, 1e4),
            kHalf);
  EXPECT_LT(worst(portable::cos_pi, [](long double x) { return std::cos(std::numbers::pi_v<long double> * x); }, 0, 0.45),
            kHalf);
}

TEST(Portable, stays_within_two_ulp_where_it_is_quick) {
  EXPECT_LT(worst(portable::exp_quick, std::exp, -690, 690), 2);
  EXPECT_LT(worst(portable::log1p, std::log1p, -0.99, 3), 2);
}

TEST(Portable, knows_limits_and_exact_values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(800), kInfinity);
  EXPECT_EQ(portable::exp(-800), 0);
  EXPECT_EQ(portable::exp(-kInfinity), 0);
  EXPECT_EQ(portable::exp(-745.1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(portable::exp_quick(-800), 0);
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -kInfinity);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  EXPECT_EQ(portable::log10(1000), 3);
  EXPECT_EQ(portable::pow(10, 15), 1e15);
  EXPECT_EQ(portable::pow(10, -5), 1e-5);
  EXPECT_EQ(portable::pow(2, -1074), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(portable::pow(0, 2), 0);
  EXPECT_EQ(portable::pow(0.9, 1e9), 0);
  EXPECT_EQ(portable::cos_pi(0), 1);
  EXPECT_EQ(portable::cos_pi(0.5), 0);
  EXPECT_EQ(portable::cos_pi(1), -1);
  EXPECT_EQ(portable::erfc(0), 1);
  EXPECT_EQ(portable::erfc(-9), 2);
}

// The hash was computed once. It must be the same on every processor and with every C library.
TEST(Portable, has_the_same_bits_everywhere) {
  std::string bytes;
  const auto keep = [&](double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int b = 0; b < 8; ++b) bytes.push_back(static_cast<char>(bits >> (8 * b)));
  };
  for (uint64_t i = 0; i < 2000; ++i) {
    const double x = draw(i, -20, 20), share = draw(i, 0, 1);
    for (const Function f : {portable::exp, portable::exp_quick, portable::erfc}) keep(f(x));
    for (const Function f : {portable::log, portable::log10, portable::log1p, portable::cos_pi}) keep(f(share));
    keep(portable::pow(share, x));
  }
  EXPECT_EQ(base::sha256(bytes), "a5ea6e1c539b986fa906631040f19d21f356b1a7601dbc5a263ede17fe7efadb");
}

}  // namespace
}  // namespace mokume
