#include "node/profile_files.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

struct NodeProfile {
  uint32_t node = 0;
  std::vector<results::DeviceProfile> devices;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("node", self.node);
    field("devices", self.devices);
  }
};

constexpr uint64_t kMostBytes = uint64_t{1} << 26;

std::vector<base::Below> files_of(const std::string& run_directory) {
  std::vector<base::Below> files;
  for (const std::string& name : base::names_in({run_directory, "logs"}))
    if (name.starts_with("profile-") && name.ends_with(".json")) files.push_back({run_directory, "logs/" + name});
  return files;
}

}  // namespace

ProfileFile::ProfileFile(const std::string& run_directory, uint32_t node, size_t devices)
    : file_{run_directory, fmt::format("logs/profile-{:04}.json", node)}, node_(node), profiles_(devices) {}

void ProfileFile::keep(size_t at, const std::string& id, const std::string& name,
                       std::vector<device::ProfileRow> rows) {
  results::DeviceProfile profile{node_, id, name, std::move(rows)};
  const std::lock_guard lock(mutex_);
  profiles_[at] = std::move(profile);
  base::write_file(file_, base::seal(base::indented(base::to_json(NodeProfile{node_, profiles_}))));
}

void remove_profiles(const std::string& run_directory) {
  for (const base::Below& file : files_of(run_directory)) base::remove(file);
}

std::vector<results::DeviceProfile> read_profiles(const std::string& run_directory) {
  std::vector<results::DeviceProfile> all;
  for (const base::Below& file : files_of(run_directory)) {
    try {
      const auto text = base::unseal_file(base::read_file(file, kMostBytes));
      if (!text) throw Error(MK_BAD_DATA, "its checksum differs");
      auto profile = base::from_json<NodeProfile>(text->object);
      for (results::DeviceProfile& device : profile.devices) {
        device.node = profile.node;
        if (!device.rows.empty()) all.push_back(std::move(device));
      }
    } catch (const Error& e) {
      throw Error(MK_BAD_DATA, file.path() + " is not a profile of this program (" + e.what() + "): remove it");
    }
  }
  return all;
}

}  // namespace mokume::node
