// Renders the tables of a profiled device: its phases, and the ops within them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::report {

// Returns two tables for a terminal: phases and ops, each with calls, seconds, share, GFLOP/s and GB/s. If there are
// more than 40 ops, the last line sums up the rest, so that both tables add up to the time in the heading.
std::string profile_text(const results::DeviceProfile& profile);

// Holds a line of the same tables as data, for other formats.
struct ProfileLine {
  std::vector<std::string> names;  // phase, or phase and op
  uint64_t calls = 0;
  double seconds = 0, share = 0;  // share of the device's time
  double gflops = 0, gbytes = 0;  // per second; 0 if unknown
};
struct ProfileTables {
  double seconds = 0;
  std::vector<ProfileLine> phases, ops;
};
ProfileTables profile_tables(const results::DeviceProfile& profile);

}  // namespace mokume::report
