// Declares the native version of kernels/nu.cl, for backends without kernels.
#pragma once

#include "libsvm_native.hpp"

namespace mokume::svc {

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
SmoFunction nu_native(bool regression);

namespace base {
void nu(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
void nu_regression(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
}  // namespace base
#if defined(__x86_64__)
namespace avx2 {
void nu(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
void nu_regression(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
}  // namespace avx2
namespace avx512 {
void nu(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
void nu_regression(const PlaceArrays& arrays, int32_t max_steps, int32_t place) noexcept;
}  // namespace avx512
#endif

}  // namespace mokume::svc
