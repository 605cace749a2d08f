// Waits for a device with a callback that wakes the thread. clFinish and clWaitForEvents of GPU drivers would spin.
#pragma once

#include "abi/backend.h"
#include "support/cl.hpp"

namespace mokume::opencl {

// Returns whether finish() has a time limit: it has one for GPUs. CPUs work in memory of the caller.
bool has_patience_limit(const mk_queue& queue);

// Both functions return when the work is done, and throw MK_DEVICE_ERROR if it failed. finish() also throws if a GPU
// has not finished within mk_device::longest_wait_s; the queue is lost then, and every later call throws at once. There
// is no limit where a copy with an event writes to memory of the caller.
void wait(mk_queue& queue, cl_event event);
void finish(mk_queue& queue);

}  // namespace mokume::opencl
