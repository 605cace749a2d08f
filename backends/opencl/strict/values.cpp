#include "strict/values.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace mokume::opencl {
namespace {

constexpr float kLimits[] = {0.0F,
                             -0.0F,
                             1.0F,
                             -1.0F,
                             3.0F,
                             0x1p-126F,
                             0x1.fffffep127F,
                             0x1.fffffep0F,
                             0x1.000002p0F,
                             0x1p-60F,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};

float flushed(float x) { return std::fabs(x) < 0x1p-126F ? 0.0F : x; }

bool same(float a, float b) { return flushed(a) == flushed(b) || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::vector<float> strict_operands() {
  uint64_t state = 48;
  const auto bits = [&state] {
    return static_cast<uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 32);
  };
  const auto number = [&bits](int spread) {
    const int power = static_cast<int>(bits() % static_cast<uint32_t>(2 * spread + 1)) - spread;
    const float fraction = std::bit_cast<float>((bits() & 0x007FFFFFU) | 0x3F800000U);
    return std::ldexp(bits() % 2 == 0 ? fraction : -fraction, power);
  };
  std::vector<float> in(3 * kStrictCount);
  for (size_t i = 0; i < kStrictCount; ++i) {
    constexpr size_t kSpecial = std::size(kLimits);
    float &a = in[i], &b = in[kStrictCount + i], &c = in[2 * kStrictCount + i];
    a = number(i % 2 == 0 ? 30 : 0);
    b = number(i % 2 == 0 ? 30 : 0);
    if (i < kSpecial * kSpecial) {
      a = kLimits[i / kSpecial];
      b = kLimits[i % kSpecial];
    } else if (i % 8 == 1) {
      const double between = std::fabs(double{a}) + 0x1p-24;
      a = static_cast<float>(between * between);
    } else if (i % 8 == 3) {
      a = std::fabs(a);
    }
    c = -(a * b);
  }
  return in;
}

// The volatile product keeps the host from fusing.
std::string strict_fault(const std::vector<float>& in, const std::vector<float>& out) {
  for (size_t i = 0; i < kStrictCount; ++i) {
    const float a = in[i], b = in[kStrictCount + i], c = in[2 * kStrictCount + i];
    const volatile float product = a * b;
    if (!same(out[i], std::fma(a, b, c))) return "its fma() rounds twice";
    if (!same(out[kStrictCount + i], product + c)) return kFuses;
    if (!same(out[2 * kStrictCount + i], a / b)) return "it rounds quotients wrongly";
    if (!same(out[3 * kStrictCount + i], std::sqrt(flushed(a)))) return "it rounds square roots wrongly";
  }
  return "";
}

}  // namespace mokume::opencl
