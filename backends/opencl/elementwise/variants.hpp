// Defines the choice `map` (vector or scalar) for ops that access each element a few times. It affects only speed.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kMapVariants;

}  // namespace mokume::opencl
