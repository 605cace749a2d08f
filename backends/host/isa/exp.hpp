// exp for the loops. Internal to each of their translation units: see the rule in loops.hpp.
#pragma once

#include <stdint.h>
#include <string.h>

#ifndef MOKUME_HOST_ISA
#error "built once per instruction set: see backends/host/CMakeLists.txt"
#endif

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// exp(x) within 1.2 ulp where the result is normal; 0 below, as the ops have it; infinity above 88.8; NaN stays.
//
// x = k ln2 + r, |r| <= ln2/2. k is rounded by adding 1.5 * 2^23, which leaves it in the low bits of the sum: no
// conversion that a NaN could make undefined. k ln2 is subtracted in two parts; the first has 9 bits, so its product
// with |k| <= 151 is exact. exp(r) is its Taylor polynomial of degree 7: the rest is below r^8/8! < 6e-9, a tenth of
// an ulp. 2^k is applied as two factors, since k reaches beyond the exponents of a float at both ends.
inline float exp_one(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // 355/512
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23
  constexpr uint32_t kRoundBits = 0x4B400000U;

  x = x < -104.0F ? -104.0F : x;
  x = x > 89.0F ? 89.0F : x;
  const float shifted = x * kLog2E + kRound;
  const float k = shifted - kRound;
  float r = x - k * kLn2High;
  r = r - k * kLn2Low;

  float q = 1.0F / 5040;
  q = q * r + 1.0F / 720;
  q = q * r + 1.0F / 120;
  q = q * r + 1.0F / 24;
  q = q * r + 1.0F / 6;
  q = q * r + 0.5F;
  const float p = 1.0F + (r + r * r * q);

  uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  // k + 512 is positive, so that halving it needs no signed shift. A NaN leaves any bits; p carries it.
  const uint32_t biased = bits - kRoundBits + 512U;
  const uint32_t half = biased >> 1;
  const uint32_t low = ((half - 256U + 127U) & 0xFFU) << 23;
  const uint32_t high = ((biased - half - 256U + 127U) & 0xFFU) << 23;
  float scale_low, scale_high;
  memcpy(&scale_low, &low, sizeof low);
  memcpy(&scale_high, &high, sizeof high);
  return p * scale_low * scale_high;
}

}  // namespace
}  // namespace mokume::host::MOKUME_HOST_ISA
