// Counts the commands that the process sends to OpenCL devices.
#pragma once

#include <cstdint>

namespace mokume::test {

struct Commands {
  uint64_t launches = 0, copies = 0, waits = 0;  // a wait for a queue without commands does not count

  bool operator==(const Commands&) const = default;
};

// Returns the commands since the last call.
Commands take_commands();

}  // namespace mokume::test
