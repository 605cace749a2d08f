// Tests the functions that give the same bits on all machines: their errors, and bits that may never change.
#include "sdk/portable_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

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

TEST(PortableMath, HasSmallErrors) {
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

TEST(PortableMath, HasTheLimitsOfFunctions) {
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

TEST(PortableMath, HasTheseBitsOnEveryMachine) {
  EXPECT_EQ(bits_of(portable::exp, -50, 50), 12192355450210073459U);
  EXPECT_EQ(bits_of(portable::log, 0, 100), 1860993671999618921U);
  EXPECT_EQ(bits_of(portable::log1p, 0, 1), 7914383017681205555U);
  EXPECT_EQ(bits_of(portable::tanh, -3, 3), 10335343827290005668U);
  EXPECT_EQ(bits_of([](double x) { return portable::power(x, 7); }, -3, 3), 6249137104955013111U);
}

}  // namespace
}  // namespace mokume::sdk
