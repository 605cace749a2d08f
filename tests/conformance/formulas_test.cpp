// Tests the functions of backends/formulas against libm, over a sample of all floats. They are compiled here as for an
// instruction set without fused multiply-adds, which emulates them, so the results have the bits of every device.
#define MOKUME_HOST_ISA emulated
#define MOKUME_HOST_EXACT
#include "isa/formulas.hpp"
#undef NAN
#undef INFINITY

#include <bit>
#include <cfloat>
#include <cmath>
#include <string>

#include "suite.hpp"

namespace mokume::conformance {
namespace {

namespace formulas = host::emulated;

// Calls body(x) for every 1009th float that is normal and in [low, high].
template <class Body>
void for_sample(float low, float high, const Body& body) {
  constexpr uint64_t kStep = 1009, kFloats = uint64_t{1} << 32;
  for (uint64_t bits = 0; bits < kFloats; bits += kStep) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (x >= low && x <= high && std::fabs(x) >= FLT_MIN) body(x);
  }
}

// Expects errors below `ulps` where the exact result is a normal float.
template <class Function, class Exact>
void expect_near(float low, float high, double ulps, const Function& function, const Exact& exact) {
  double worst = 0, at = 0;
  int64_t count = 0;
  for_sample(low, high, [&](float x) {
    const double want = exact(double{x});
    if (std::fabs(want) < double{FLT_MIN} || std::fabs(want) > double{FLT_MAX}) return;
    ++count;
    const double error = std::fabs(double{function(x)} - want) / std::ldexp(1.0, std::ilogb(want) - 23);
    if (error <= worst) return;  // false for NaN
    worst = error;
    at = x;
  });
  EXPECT_GT(count, 100000);
  EXPECT_LT(worst, ulps) << "at " << std::hexfloat << at;
  ::testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
}

// The bounds are those of docs/explained/numbers.md.
void functions_are_accurate() {
  expect_near(
      -104, 89, 1, [](float x) { return formulas::exp_f32(x); }, [](double x) { return std::exp(x); });
  expect_near(
      -104, 0, 1, [](float x) { return formulas::rbf_f32(x); }, [](double x) { return std::exp(x); });
  expect_near(
      FLT_MIN, FLT_MAX, 1, [](float x) { return formulas::log_f32(x); }, [](double x) { return std::log(x); });
  expect_near(
      -1e30F, 1e30F, 1.5, [](float x) { return formulas::tanh_f32(x); }, [](double x) { return std::tanh(x); });
  expect_near(
      -1e30F, 1e30F, 1.3, [](float x) { return formulas::erf_f32(x); }, [](double x) { return std::erf(x); });
  expect_near(
      FLT_MIN, 0x1p126F, 0.51, [](float x) { return formulas::reciprocal(x); }, [](double x) { return 1 / x; });
}

// Compares the emulation with the C library's function, for terms that cancel, tie and differ in size.
void emulated_fma_is_exact() {
  int64_t differ = 0;
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525U + 1013904223U; };
  for (int i = 0; i < 2000000; ++i) {
    const float a = std::bit_cast<float>((next() & 0x807FFFFFU) | 0x3F800000U);
    const float b = std::bit_cast<float>((next() & 0x807FFFFFU) | 0x3F800000U);
    const uint32_t exponent = 127U - 60U + (next() >> 8) % 90U;
    float c = std::bit_cast<float>((next() & 0x807FFFFFU) | (exponent << 23U));
    if (i % 4 == 0) c = -(a * b);
    if (i % 4 == 1) c = std::bit_cast<float>(std::bit_cast<uint32_t>(c) & 0xFFFF0000U);
    differ += formulas::fused(a, b, c) == std::fma(a, b, c) ? 0 : 1;
  }
  EXPECT_EQ(differ, 0);
}

}  // namespace

void add_formula_tests() {
  add_test("formulas", "functions_are_accurate", functions_are_accurate);
  add_test("formulas", "emulated_fma_is_exact", emulated_fma_is_exact);
}

}  // namespace mokume::conformance
