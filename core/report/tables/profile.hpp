// Where the time of a profiled run went, device by device: phases, and the ops within them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/profile.hpp"

namespace mokume::report {

// Of one device: all calls of the model that ran on it in one session of the run.
struct DeviceProfile {
  uint32_t node = 0;
  std::string id;    // "opencl:0"
  std::string name;  // of the device
  std::vector<device::ProfileRow> rows;
};

// Two tables for a terminal: phases and ops, each with calls, seconds, share, GFLOP/s and GB/s. What is not among the
// first ops is one line at the end, so that both tables add up to the time that stands above them.
std::string profile_text(const DeviceProfile& profile);

// The same as a section of report.html; "" without profiles.
std::string profile_section(const std::vector<DeviceProfile>& profiles);

// One node's file in logs/: {"node", "devices": [{"id", "name", "rows": [{"phase", "what", "calls", "seconds", "flops",
// "bytes"}]}]}. Reading throws Error(MK_BAD_DATA) that says what is wrong, without a file's name.
std::string profile_json(uint32_t node, const std::vector<DeviceProfile>& profiles);
std::vector<DeviceProfile> read_profile_json(const std::string& text);

}  // namespace mokume::report
