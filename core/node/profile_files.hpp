// Writes and reads the files logs/profile-NNNN.json, which hold the measurements of each node of a profiled run.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/below.hpp"
#include "device/profile.hpp"
#include "results/view.hpp"

namespace mokume::node {

// Rewrites a node's file after each bundle of work, so that a killed node leaves its measurements, and rank 0 finds
// every node's file when the last fit has arrived.
class ProfileFile {
 public:
  ProfileFile(const std::string& run_directory, uint32_t node, size_t devices);

  // Each device calls it on its own thread.
  void keep(size_t at, const std::string& id, const std::string& name, std::vector<device::ProfileRow> rows);

 private:
  base::Below file_;
  uint32_t node_;
  std::mutex mutex_;
  std::vector<results::DeviceProfile> profiles_;
};

void remove_profiles(const std::string& run_directory);

// Returns the profiles sorted by node, without idle devices. Throws Error(MK_BAD_DATA) that names a damaged file.
std::vector<results::DeviceProfile> read_profiles(const std::string& run_directory);

}  // namespace mokume::node
