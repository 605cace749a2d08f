// Waits for a device. On GPUs, the thread asks for the status and sleeps in between: NVIDIA's driver occupies a core in
// clFinish and clWaitForEvents, and runs callbacks of events 10 to 20 ms late (measured on an H100 with driver 580).
#pragma once

#include "abi/backend.h"
#include "support/cl.hpp"

namespace mokume::opencl {

// Returns whether finish() has a time limit. Only GPUs have one, because CPUs work in the caller's memory.
bool has_patience_limit(const mk_queue& queue);

// Wait until the work is done, and throw MK_DEVICE_ERROR if it failed. finish() also throws if a GPU has not finished
// within mk_device::longest_wait_s; the queue is then lost, and every later call throws at once. There is no limit if a
// copy with an event writes to the caller's memory.
void wait(mk_queue& queue, cl_event event);
void finish(mk_queue& queue);

}  // namespace mokume::opencl
