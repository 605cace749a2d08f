// The recorded choice `map` for ops that access each element a few times: vector or scalar. It affects only speed.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kMapVariants;

}  // namespace mokume::opencl
