// Runs native code in the place of a kernel.
#pragma once

#include <cstdint>

#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "sdk/subnormals.hpp"

namespace mokume::svc {

// Calls body(k) for every k below `count`, in parallel. Subnormal floats are zeros there, as in kernels (ADR 20). The
// time counts as that of the kernel `name`.
template <class Body>
void native_loop(const sdk::Host& host, const sdk::Device& device, const char* name, uint64_t count, const Body& body) {
  const auto kernel = device.kernel(name);
  host.parallel_for(count, [&](uint64_t k) {
    const sdk::SubnormalsAreZero zeros;
    body(k);
  });
}

}  // namespace mokume::svc
