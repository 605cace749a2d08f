// A row of a profile, as messages and files carry it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mokume::base {

// The row name for the time that a phase spends outside all ops, i.e. the host's own work. `calls` counts the starts of
// the phase.
inline constexpr const char* kOutsideOps = "(outside of ops)";

struct ProfileRow {
  std::string phase;  // "forward"
  std::string what;   // "gemm 128x10x9216", "write", the name of a kernel, or kOutsideOps
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  // computed from the cost of each op: everything read and written once

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    constexpr double kMost = std::numeric_limits<double>::max();
    field("phase", self.phase);
    field("what", self.what);
    field("calls", self.calls);
    field("seconds", self.seconds, 0.0, kMost);
    field("flops", self.flops, 0.0, kMost);
    field("bytes", self.bytes, 0.0, kMost);
  }
};

}  // namespace mokume::base
