// Declares the native version of kernels/ascent.cl, for backends without kernels.
#pragma once

#include "nystrom/ascent.hpp"

namespace mokume::svc {

// Takes `count` turns of the pass of a place, from turn `first` on.
using AscentFunction = void (*)(const AscentArrays& arrays, int32_t place, int32_t first, int32_t count) noexcept;

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
AscentFunction ascent_native(bool regression);

#define SVC_ASCENT                                                                                       \
  void ascend_classes(const AscentArrays& arrays, int32_t place, int32_t first, int32_t count) noexcept; \
  void ascend_numbers(const AscentArrays& arrays, int32_t place, int32_t first, int32_t count) noexcept;
namespace base {
SVC_ASCENT
}
#if defined(__x86_64__)
namespace avx2 {
SVC_ASCENT
}
namespace avx512 {
SVC_ASCENT
}
#endif
#undef SVC_ASCENT

}  // namespace mokume::svc
