// The handles behind the boundary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/backend.h"
#include "isa/loops.hpp"
#include "sdk/plugin.hpp"

struct mk_device {
  mokume::sdk::Host host;
  bool oracle;
  const mokume::host::Loops* loops;
  uint64_t max_buffer_bytes;
};

struct mk_buffer {
  mk_device* device;
  std::byte* memory;
  uint64_t bytes;
};

// Commands are carried out before submit() and copy() return.
struct mk_queue {
  mk_device* device;
  bool profiling;
};

struct mk_event {
  bool profiling;
  uint64_t start_ns;
  uint64_t end_ns;
};
