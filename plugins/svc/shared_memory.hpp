// Gives native code the memory of buffers.
#pragma once

#include <string>

#include "sdk/device.hpp"
#include "sdk/error.hpp"

namespace mokume::svc {

// Returns the memory of a buffer, for use after Device::finish(). Throws Error(MK_UNSUPPORTED) if the device does not
// share it with the host.
template <class T>
T* shared_memory(const sdk::Device& device, mk_buffer* buffer) {
  auto* const memory = static_cast<T*>(device.table()->host_pointer(device.table()->self, buffer));
  if (memory == nullptr)
    throw Error(MK_UNSUPPORTED, std::string(device.info().name) +
                                    " neither compiles kernels nor shares its memory with the host, but svc needs one "
                                    "of these: name another device");
  return memory;
}

}  // namespace mokume::svc
