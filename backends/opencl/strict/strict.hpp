// Shows that a device computes as strict numerics requires (docs/explained/numbers.md).
#pragma once

#include "runtime/device.hpp"

namespace mokume::opencl {

// Runs sums, products, fma(), quotients and square roots on the device. Throws MK_DEVICE_ERROR unless all are rounded
// correctly and nothing is fused.
void require_strict(mk_device& device);

}  // namespace mokume::opencl
