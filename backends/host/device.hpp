// Defines the types to which the opaque handles of abi/backend.h point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/backend.h"
#include "isa/loops.hpp"
#include "sdk/plugin.hpp"

namespace mokume::host {
enum class Precision { fp32, tf32, bf16 };  // operands of products are rounded to it (rounded.hpp)
}

struct mk_device {
  mokume::sdk::Host host;
  bool oracle;
  mokume::host::Precision precision;
  bool strict;  // computes every op as docs/explained/numbers.md defines it
  const mokume::host::Loops* loops;
  uint64_t max_buffer_bytes;
};

struct mk_buffer {
  // The destructor releases `start` to `owner`. If `owner` is null, the buffer does not own its memory.
  mk_buffer(const mk_host* owner, std::byte* start) : host(owner), memory(start) {}
  ~mk_buffer() {
    if (host != nullptr) host->release(host->self, memory);
  }
  mk_buffer(const mk_buffer&) = delete;
  mk_buffer& operator=(const mk_buffer&) = delete;

  const mk_host* host;
  std::byte* memory;
};

struct mk_queue {
  mk_device* device;
  bool profiling;
};

struct mk_event {
  bool profiling;
  uint64_t start_ns;
  uint64_t end_ns;
};
