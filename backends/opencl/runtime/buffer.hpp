// Memory of a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/backend.h"
#include "support/cl.hpp"

struct mk_buffer {
  mokume::opencl::Memory memory;
  uint64_t bytes = 0;
  uint64_t version = 0;           // another one after everything that writes to it; no two buffers ever share one
  std::byte* in_place = nullptr;  // its memory, where the driver works in what it was given; else nullptr

  void written();
};

namespace mokume::opencl {

// `bytes` > 0; throws MK_OUT_OF_MEMORY with the sizes if the device cannot hold it.
mk_buffer create_buffer(mk_device& device, uint64_t bytes);

// The memory of a view; NULL for none.
inline cl_mem memory(const mk_tensor& t) { return t.buffer == nullptr ? nullptr : t.buffer->memory.get(); }

}  // namespace mokume::opencl
