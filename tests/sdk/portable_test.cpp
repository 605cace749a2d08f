// Tests the functions that give the same bits on all machines: their errors, and bits that may never change.
#include "sdk/portable.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "sdk/philox.hpp"

namespace mokume::sdk {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the largest error of a function at random places, in units of the last digit.
template <class Function, class Exact>
double largest_error(Function function, Exact exact, double from, double to) {
  const Random random(5, Purpose::digits, 0);
  double most = 0;
  for (uint32_t k = 0; k < 20'000; ++k) {
    const double x = from + (to - from) * random.uniform(k);
    const long double wanted = exact(static_cast<long double>(x));
    const double size = std::fabs(static_cast<double>(wanted)), ulp = std::nextafter(size, kInfinity) - size;
    most = std::max(most, static_cast<double>(std::fabs(static_cast<long double>(function(x)) - wanted)) / ulp);
  }
  return most;
}

TEST(Portable, HasSmallErrors) {
  if (std::numeric_limits<long double>::digits <= std::numeric_limits<double>::digits)
    GTEST_SKIP() << "no exact values";
  const auto exp = [](long double x) { return std::exp(x); };
  const auto log = [](long double x) { return std::log(x); };
  const auto log1p = [](long double x) { return std::log1p(x); };
  const auto tanh = [](long double x) { return std::tanh(x); };
  EXPECT_LT(largest_error(portable::exp, exp, -0.4, 0.4), 1);
  EXPECT_LT(largest_error(portable::exp, exp, -700, 709), 1);
  EXPECT_LT(largest_error(portable::log, log, 0.5, 2), 1);
  EXPECT_LT(largest_error(portable::log, log, 0, 1e300), 1);
  EXPECT_LT(largest_error(portable::log1p, log1p, 0, 1), 4);
  EXPECT_LT(largest_error(portable::tanh, tanh, -0.4, 0.4), 4);
  EXPECT_LT(largest_error(portable::tanh, tanh, -20, 20), 4);
}

TEST(Portable, RoundsCorrectlyWhereItTakesItsTime) {
  if (std::numeric_limits<long double>::digits <= std::numeric_limits<double>::digits)
    GTEST_SKIP() << "no exact values";
  constexpr double kHalf = 0.51;  // the long doubles of x86 have errors of their own
  const auto log10 = [](long double x) { return std::log10(x); };
  const auto erfc = [](long double x) { return std::erfc(x); };
  const auto cos_pi = [](long double x) { return std::cos(std::numbers::pi_v<long double> * x); };
  EXPECT_LT(largest_error(portable::log10, log10, 1e-5, 1e5), kHalf);
  EXPECT_LT(largest_error(portable::erfc, erfc, -6, 5), kHalf);
  EXPECT_LT(largest_error(portable::cos_pi, cos_pi, 0, 0.45), kHalf);
  const auto of_ten = [](double x) { return portable::pow(10, x); };
  EXPECT_LT(largest_error(
                of_ten, [](long double x) { return std::pow(10.0L, x); }, -12, 12),
            kHalf);
  const auto of_x = [](double x) { return portable::pow(x, 0.25); };
  EXPECT_LT(largest_error(
                of_x, [](long double x) { return std::pow(x, 0.25L); }, 1e-4, 1e4),
            kHalf);
}

TEST(Portable, HasTheLimitsOfFunctions) {
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(1000), kInfinity);
  EXPECT_EQ(portable::exp(-1000), 0);
  EXPECT_TRUE(std::isnan(portable::exp(std::nan(""))));
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -kInfinity);
  EXPECT_EQ(portable::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  EXPECT_EQ(portable::tanh(50), 1);
  EXPECT_EQ(portable::tanh(-50), -1);
  EXPECT_TRUE(std::isnan(portable::tanh(std::nan(""))));
  EXPECT_EQ(portable::log10(1000), 3);
  EXPECT_EQ(portable::log10(0), -kInfinity);
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
  EXPECT_EQ(portable::power(0, 0), 1);
  EXPECT_EQ(portable::power(-3, 3), -27);
}

// Combines the bits of a function at random places.
template <class Function>
uint64_t bits_of(Function function, double from, double to) {
  const Random random(6, Purpose::digits, 0);
  uint64_t all = 0;
  for (uint32_t k = 0; k < 1'000; ++k) {
    const double value = function(from + (to - from) * random.uniform(k));
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    all = (all ^ bits) * 0x100000001b3U;
  }
  return all;
}

TEST(Portable, HasTheseBitsOnEveryMachine) {
  EXPECT_EQ(bits_of(portable::exp, -50, 50), 12192355450210073459U);
  EXPECT_EQ(bits_of(portable::log, 0, 100), 1860993671999618921U);
  EXPECT_EQ(bits_of(portable::log1p, 0, 1), 7914383017681205555U);
  EXPECT_EQ(bits_of(portable::tanh, -3, 3), 10335343827290005668U);
  EXPECT_EQ(bits_of([](double x) { return portable::power(x, 7); }, -3, 3), 6249137104955013111U);
  EXPECT_EQ(bits_of(portable::log10, 0, 100), 12059846586730799258U);
  EXPECT_EQ(bits_of(portable::cos_pi, 0, 1), 1707268331757553007U);
  EXPECT_EQ(bits_of(portable::erfc, -3, 3), 12228449123830025926U);
  EXPECT_EQ(bits_of([](double x) { return portable::pow(10, x); }, -5, 5), 17898600743945965920U);
}

}  // namespace
}  // namespace mokume::sdk
