// Copies between the host and a device, and within a device.
#pragma once

#include "abi/backend.h"
#include "support/cl.hpp"

namespace mokume::opencl {

// `done` may be NULL.
void enqueue_copy(mk_queue& queue, const mk_copy& copy, cl_event* done);

}  // namespace mokume::opencl
