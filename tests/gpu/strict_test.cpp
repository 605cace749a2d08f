// Tests which devices strict numerics refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "strict/values.hpp"

namespace mokume::opencl {
namespace {

using Sum = std::function<float(float, float, float)>;
using Quotient = std::function<float(float, float)>;
using Root = std::function<float(float)>;

float rounded_sum(float a, float b, float c) {
  const volatile float product = a * b;
  return product + c;
}
float fused_sum(float a, float b, float c) { return std::fma(a, b, c); }
float quotient(float a, float b) { return a / b; }
float root(float x) { return std::sqrt(x); }

std::string fault_of(const Sum& fused, const Sum& sum, const Quotient& divide, const Root& root_of) {
  const std::vector<float> in = strict_operands();
  std::vector<float> out(4 * kStrictCount);
  for (size_t i = 0; i < kStrictCount; ++i) {
    const float a = in[i], b = in[kStrictCount + i], c = in[2 * kStrictCount + i];
    out[i] = fused(a, b, c);
    out[kStrictCount + i] = sum(a, b, c);
    out[2 * kStrictCount + i] = divide(a, b);
    out[3 * kStrictCount + i] = root_of(a);
  }
  return strict_fault(in, out);
}

TEST(Strict, AcceptsCorrectRounding) { EXPECT_EQ(fault_of(fused_sum, rounded_sum, quotient, root), ""); }

TEST(Strict, RefusesWhatRoundsOtherwise) {
  EXPECT_EQ(fault_of(rounded_sum, rounded_sum, quotient, root), "its fma() rounds twice");
  EXPECT_EQ(fault_of(fused_sum, fused_sum, quotient, root), kFuses);
  const auto by_reciprocal = [](float a, float b) { return a * (1.0F / b); };
  EXPECT_EQ(fault_of(fused_sum, rounded_sum, by_reciprocal, root), "it rounds quotients wrongly");
  const auto too_large = [](float x) { return x == 3.0F ? std::nextafter(std::sqrt(x), 2.0F) : std::sqrt(x); };
  EXPECT_EQ(fault_of(fused_sum, rounded_sum, quotient, too_large), "it rounds square roots wrongly");
}

}  // namespace
}  // namespace mokume::opencl
