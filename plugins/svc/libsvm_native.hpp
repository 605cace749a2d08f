// Declares the native version of kernels/libsvm.cl, for backends without kernels.
#pragma once

#include <cstdint>

#include "per_isa.hpp"
#include "places.hpp"

namespace mokume::svc {

// Advances the problem in `place` by up to `max_steps` steps. Different places may run concurrently.
using SmoFunction = void (*)(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
SmoFunction smo_native(bool regression, Storage storage);

SVC_PER_ISA(SmoFunction smo(bool regression, Storage storage) noexcept)

}  // namespace mokume::svc
