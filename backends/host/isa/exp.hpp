// Defines exp for the loops, internal to each of their translation units (see the rule in loops.hpp).
#pragma once

#include <stdint.h>
#include <string.h>

#ifndef MOKUME_HOST_ISA
#error "built once per instruction set: see backends/host/CMakeLists.txt"
#endif

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Returns exp(x) within 1.2 ulp where it is normal, 0 where it is subnormal, infinity above 88.8, and NaN for NaN.
//
// x = k ln2 + r, |r| <= ln2/2. Adding 1.5 * 2^23 rounds k and leaves it in the low bits of the sum; this avoids a
// conversion that is undefined for NaN. k ln2 is subtracted in two parts; the first has 9 bits, so its product with |k|
// <= 151 is exact. A Taylor polynomial of degree 7 gives exp(r); the remainder is below r^8/8! < 6e-9, a tenth of an
// ulp. 2^k is applied as two factors, because k exceeds the exponent range of a float at both ends.
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
  // k + 512 is positive, so halving it needs no signed shift. For NaN these bits are arbitrary, and p is NaN.
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
