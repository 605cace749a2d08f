// Implements the extension "host_memory_v1": memory that the driver has mapped for the host.
#pragma once

#include <cstdint>
#include <memory>

#include "abi/backend.h"
#include "support/cl.hpp"

// Keeps the memory mapped for the lifetime of the object.
struct mk_host_block {
  mk_queue* queue = nullptr;
  mokume::opencl::Memory memory;
  void* mapped = nullptr;

  ~mk_host_block();
};

namespace mokume::opencl {

std::unique_ptr<mk_host_block> create_host_block(mk_queue& queue, uint64_t bytes);

}  // namespace mokume::opencl
