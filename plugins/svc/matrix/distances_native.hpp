// Declares the native version of kernels/distances.cl, for backends without kernels.
#pragma once

#include <cstdint>

#include "per_isa.hpp"

namespace mokume::svc {

// Writes -1/2 distance(x, y_c) for `columns` rows y_c with the stride y_ld.
using DistancesFunction = void (*)(const float* x, const float* y, int64_t y_ld, int64_t columns, int64_t features,
                                   float* out) noexcept;

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
DistancesFunction distances_native(bool chi_squared);

SVC_PER_ISA(DistancesFunction distances(bool chi_squared) noexcept)

}  // namespace mokume::svc
