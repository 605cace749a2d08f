// Implements the extension "kernel_source_v1".
#pragma once

#include "abi/backend.h"

namespace mokume::opencl {

const mk_kernel_source* kernel_source_table();

}  // namespace mokume::opencl
