// The recorded choice `map`: vector or scalar, for every op that accesses each element a few times. They differ only in
// speed.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kMapVariants;

}  // namespace mokume::opencl
