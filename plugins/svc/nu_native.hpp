// Declares the native version of kernels/nu.cl, for backends without kernels.
#pragma once

#include "libsvm_native.hpp"
#include "per_isa.hpp"

namespace mokume::svc {

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
SmoFunction nu_native(bool regression, Storage storage);

SVC_PER_ISA(SmoFunction nu(bool regression, Storage storage) noexcept)

}  // namespace mokume::svc
