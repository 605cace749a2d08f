// Defines the recorded choice `gemm`: vector, tile or clblast. The first two differ only in speed.
#pragma once

#include "variants/variant_set.hpp"

namespace mokume::opencl {

extern const VariantSet kGemmVariants;

}  // namespace mokume::opencl
