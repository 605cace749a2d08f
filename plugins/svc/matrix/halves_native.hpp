// Declares the native version of kernels/halves.cl, for backends without kernels.
#pragma once

#include <cstdint>

#include "per_isa.hpp"

namespace mokume::svc {

// Holds the functions for one instruction set. They convert `count` values, a multiple of kBlock.
struct HalvesFunctions {
  void (*narrow)(const float* from, uint16_t* to, int64_t count) noexcept;
  void (*widen)(const uint16_t* from, float* to, int64_t count) noexcept;
};

// Returns the functions for the best instruction set of this CPU. All instruction sets give the same bits.
HalvesFunctions halves_native();

SVC_PER_ISA(HalvesFunctions halves() noexcept)

}  // namespace mokume::svc
