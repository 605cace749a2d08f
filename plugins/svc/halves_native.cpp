// The build compiles this file once per instruction set, which SOLVER_ISA names.
#include "halves_native.hpp"

#include <bit>

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {
namespace {

// Returns the nearest half; for ties, the one whose last bit is 0. Compilers turn the loop around this function into
// vectors.
uint16_t half_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits & 0x80000000U, size = bits ^ sign;
  // Half of the last bit, minus 1 unless the last bit is 1, carries into the bits that remain.
  const uint32_t rounded = size + 0xfffU + ((size >> 13) & 1U) - (112U << 23);
  // The smallest halves are multiples of 2^-24, the distance of floats from 0.5 on.
  const uint32_t smallest = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3f000000U;
  uint32_t half = size < (113U << 23) ? smallest : rounded >> 13;
  if (size >= 0x47800000U) half = size > 0x7f800000U ? 0x7e00U : 0x7c00U;
  return static_cast<uint16_t>(half | (sign >> 16));
}

void narrow(const float* from, uint16_t* to, int64_t count) noexcept {
  for (int64_t k = 0; k < count; ++k) to[k] = half_of(from[k]);
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
