// logs/profile-NNNN.json: what each node of a profiled run measured, one file a node.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/profile.hpp"
#include "report/view.hpp"

namespace mokume::node {

// Writes a node's file again after each bundle of work, so that a node that is killed leaves what it knew, and rank 0
// finds every node's when the last fit has come in.
class ProfileFile {
 public:
  ProfileFile(const std::string& run_directory, uint32_t node, size_t devices);

  // On the device's thread.
  void keep(size_t at, const std::string& id, const std::string& name, std::vector<device::ProfileRow> rows);

 private:
  std::string path_;
  uint32_t node_;
  std::mutex mutex_;
  std::vector<report::DeviceProfile> profiles_;
};

// Those of an earlier session.
void remove_profiles(const std::string& run_directory);

// Sorted by node; devices that did nothing are left out. Error(MK_BAD_DATA) names a file that is damaged.
std::vector<report::DeviceProfile> read_profiles(const std::string& run_directory);

}  // namespace mokume::node
