// The build compiles this file once per instruction set, which SOLVER_ISA names.
#include "matrix/halves_native.hpp"

#include <algorithm>
#include <bit>

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

// Stores vector v as the nearest halves; for ties, those whose last bit is 0.
#if defined(__AVX512F__)
void put(uint16_t* to, int64_t v, const Floats& x) {
  const __m256i halves = _mm512_cvtps_ph(reinterpret_cast<__m512>(x), _MM_FROUND_TO_NEAREST_INT);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + v * kLanes), halves);
}
#elif defined(__AVX2__)
void put(uint16_t* to, int64_t v, const Floats& x) {
  const __m128i halves = _mm256_cvtps_ph(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + v * kLanes), halves);
}
#else
// The sum of a float and 2^13 times its power of 2 has the last digit of the half, so the sum rounds.
uint16_t half_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits & 0x80000000U, size = bits ^ sign;
  constexpr uint32_t kInfinite = 0x47800000U;  // 2^16
  constexpr uint32_t kLeast = 113;             // exponent of 2^-14; smaller halves have the last digit of this one
  const uint32_t limited = std::min(size, kInfinite);
  const uint32_t exponent = std::max(limited >> 23, kLeast), power = (exponent + 13) << 23;
  const uint32_t digits = std::bit_cast<uint32_t>(std::bit_cast<float>(limited) + std::bit_cast<float>(power)) - power;
  const uint32_t not_a_number = size > 0x7f800000U ? 0x200U : 0;
  return static_cast<uint16_t>((digits + ((exponent - kLeast) << 10)) | not_a_number | (sign >> 16));
}

void put(uint16_t* to, int64_t v, const Floats& x) {
  for (int t = 0; t < kLanes; ++t) to[v * kLanes + t] = half_of(x[t]);
}
#endif

void narrow(const float* from, uint16_t* to, int64_t count) noexcept {
  for (int64_t v = 0; v < count / kLanes; ++v) put(to, v, at(from, v));
}

void widen(const uint16_t* from, float* to, int64_t count) noexcept {
  for (int64_t v = 0; v < count / kLanes; ++v) at(to, v) = at(reinterpret_cast<const Half*>(from), v);
}

}  // namespace

HalvesFunctions halves() noexcept { return {narrow, widen}; }

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

HalvesFunctions halves_native() { return SOLVER_BEST(halves)(); }

}  // namespace mokume::svc
#endif
