// Waits for a device without spinning. The clFinish and clWaitForEvents of GPU drivers spin, so a callback wakes this
// thread instead.
#pragma once

#include "abi/backend.h"
#include "support/cl.hpp"

namespace mokume::opencl {

// Both return when the work is done, and throw MK_DEVICE_ERROR if it failed, or if a GPU has not finished it in 600 s,
// or in the time that the environment variable MOKUME_WAIT_SECONDS sets.
void wait(const mk_queue& queue, cl_event event);
void finish(const mk_queue& queue);

}  // namespace mokume::opencl
