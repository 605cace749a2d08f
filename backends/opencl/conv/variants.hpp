// Defines the recorded choice `conv`: winograd or patches. Their bits differ, within the op's tolerance.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kConvVariants;

}  // namespace mokume::opencl
