// Allocates device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/backend.h"
#include "support/cl.hpp"

struct mk_buffer {
  mokume::opencl::Memory memory;
  uint64_t bytes = 0;
  uint64_t version = 0;  // changes with every write; no two buffers share a version
  // The buffer's memory if the driver works in the memory that it was given, else nullptr.
  std::byte* in_place = nullptr;

  void written();
};

namespace mokume::opencl {

// Returns whether the device's cores are threads of this process that work in the memory that create_buffer() gives.
bool works_in_place(const mk_device& device);

// `bytes` must be positive. Throws MK_OUT_OF_MEMORY with the sizes if the device cannot hold the buffer.
mk_buffer create_buffer(mk_device& device, uint64_t bytes);

// Returns the memory of a view, or NULL if the view has no buffer.
inline cl_mem memory(const mk_tensor& t) { return t.buffer == nullptr ? nullptr : t.buffer->memory.get(); }

}  // namespace mokume::opencl
