// Defines a row of a profile, as messages and files carry it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace mokume::base {

// Names the row for the time that a phase spends outside all ops, i.e. for the host's own work. In this row, `calls`
// counts the starts of the phase.
inline constexpr const char* kOutsideOps = "(outside of ops)";

struct ProfileRow {
  std::string phase;  // e.g. "forward"
  std::string what;   // "gemm 128x10x9216", "write", the name of a kernel, or kOutsideOps
  uint64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  // sum of the costs of the ops, which count each element read or written once

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
