// The recorded choice `map`: vector or scalar, for every op that touches each element a few times. They differ in speed
// only.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kMapVariants;

}  // namespace mokume::opencl
