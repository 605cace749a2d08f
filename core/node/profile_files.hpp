// The files logs/profile-NNNN.json: the measurements of each node of a profiled run, one file per node.
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

// Rewrites a node's file after each bundle of work, so that a killed node leaves its measurements so far, and rank 0
// finds every node's file when the last fit has arrived.
class ProfileFile {
 public:
  ProfileFile(const std::string& run_directory, uint32_t node, size_t devices);

  // Called on the device's thread.
  void keep(size_t at, const std::string& id, const std::string& name, std::vector<device::ProfileRow> rows);

 private:
  base::Below file_;
  uint32_t node_;
  std::mutex mutex_;
  std::vector<results::DeviceProfile> profiles_;
};

// Removes the files of an earlier session.
void remove_profiles(const std::string& run_directory);

// Returns the profiles sorted by node, without devices that did nothing. Throws Error(MK_BAD_DATA) with the name of a
// damaged file.
std::vector<results::DeviceProfile> read_profiles(const std::string& run_directory);

}  // namespace mokume::node
