#include "node/profile_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

namespace fs = std::filesystem;

// A node's file.
struct NodeProfile {
  uint32_t node = 0;
  std::vector<report::DeviceProfile> devices;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("node", self.node);
    field("devices", self.devices);
  }
};

constexpr uint64_t kMostBytes = uint64_t{1} << 26;

std::vector<std::string> files_of(const std::string& run_directory) {
  std::vector<std::string> files;
  std::error_code none;  // a missing directory contains no files
  for (fs::directory_iterator it(run_directory + "/logs", none), end; !none && it != end; it.increment(none)) {
    const std::string name = it->path().filename().string();
    if (name.rfind("profile-", 0) == 0 && it->path().extension() == ".json") files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

ProfileFile::ProfileFile(const std::string& run_directory, uint32_t node, size_t devices)
    : path_(fmt::format("{}/logs/profile-{:04}.json", run_directory, node)), node_(node), profiles_(devices) {}

void ProfileFile::keep(size_t at, const std::string& id, const std::string& name,
                       std::vector<device::ProfileRow> rows) {
  report::DeviceProfile profile{node_, id, name, std::move(rows)};
  const std::lock_guard lock(mutex_);
  profiles_[at] = std::move(profile);
  base::write_file(path_, base::indented(base::to_json(NodeProfile{node_, profiles_})));
}

void remove_profiles(const std::string& run_directory) {
  for (const std::string& file : files_of(run_directory)) fs::remove(file);
}

std::vector<report::DeviceProfile> read_profiles(const std::string& run_directory) {
  std::vector<report::DeviceProfile> all;
  for (const std::string& file : files_of(run_directory)) {
    try {
      auto profile = base::from_json<NodeProfile>(base::read_file(file, kMostBytes));
      for (report::DeviceProfile& device : profile.devices) {
        device.node = profile.node;
        if (!device.rows.empty()) all.push_back(std::move(device));
      }
    } catch (const Error& e) {
      throw Error(MK_BAD_DATA, file + " is not a profile of this program (" + e.what() + "): remove it");
    }
  }
  return all;
}

}  // namespace mokume::node
