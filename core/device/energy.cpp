#include "device/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "device/core_plan.hpp"
#include "device/nvidia_energy.hpp"
#include "sdk/error.hpp"

namespace mokume::device {
namespace {

// Returns the content of a file of /sys without the line end, or nothing if it cannot be read.
std::optional<std::string> system_text(const std::string& path) {
  try {
    return base::trim(base::read_file(path, 4096));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> system_number(const std::string& path) {
  const auto text = system_text(path);
  return text ? whole_number(*text) : std::nullopt;
}

// Returns the package in the name of a zone, "package-1" or "package-1-die-0". Other zones count parts of a package, or
// the whole computer.
std::optional<uint64_t> package_of_zone(std::string_view name) {
  constexpr std::string_view kStart = "package-";
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  return whole_number(name.substr(0, name.find('-')));
}

// Counts the energy of packages in microjoules, from 0 to a range and then from 0 again.
class PackageMeter : public EnergyMeter {
 public:
  struct Zone {
    std::string file;
    uint64_t range = 0;
    double share = 0;  // part of the energy that the device is charged for
    uint64_t last = 0;
  };
  explicit PackageMeter(std::vector<Zone> zones) : zones_(std::move(zones)) {}

 private:
  std::optional<double> added() override {
    std::vector<uint64_t> now;
    for (const Zone& zone : zones_) {
      const auto count = system_number(zone.file);
      if (!count) return std::nullopt;
      now.push_back(*count);
    }
    double joules = 0;
    for (size_t z = 0; z < zones_.size(); ++z) {
      Zone& zone = zones_[z];
      const uint64_t up_to = now[z] >= zone.last ? now[z] : now[z] + zone.range;
      if (up_to > zone.last) joules += 1e-6 * static_cast<double>(up_to - zone.last) * zone.share;
      zone.last = now[z];
    }
    return joules;
  }

  std::vector<Zone> zones_;
};

// Returns the highest number that a core of this computer can have. A core that is switched off counts, although it is
// in no package.
uint64_t last_core(const std::string& root) {
  constexpr uint64_t kMostCores = 1U << 16;
  const std::string range = system_text(root + "/sys/devices/system/cpu/possible").value_or("0");  // "0-127"
  return std::min(kMostCores, whole_number(std::string_view(range).substr(range.find_last_of("-,") + 1)).value_or(0));
}

// Returns the number of cores of each package of this computer, for the packages that have one of `cores`, and the
// number of these.
std::map<uint64_t, std::pair<size_t, size_t>> packages_of(const std::vector<uint32_t>& cores, const std::string& root) {
  std::map<uint64_t, std::pair<size_t, size_t>> packages;  // all cores, and cores of the device
  const auto package_of = [&](uint32_t core) {
    return system_number(fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/physical_package_id", root, core));
  };
  for (const uint32_t core : cores)
    if (const auto package = package_of(core)) ++packages[*package].second;
  const uint64_t last = last_core(root);
  for (uint32_t core = 0; core <= last; ++core)
    if (const auto package = package_of(core); package && packages.contains(*package)) ++packages[*package].first;
  return packages;
}

std::unique_ptr<EnergyMeter> package_energy(const std::vector<uint32_t>& cores, const std::string& root) {
  if (cores.empty()) return nullptr;
  const auto packages = packages_of(cores, root);
  std::vector<PackageMeter::Zone> zones;
  for (int k = 0;; ++k) {
    const std::string zone = fmt::format("{}/sys/class/powercap/intel-rapl:{}/", root, k);  // the name on AMD, too
    const auto name = system_text(zone + "name");
    if (!name) break;
    const auto package = package_of_zone(*name);
    const auto found = package ? packages.find(*package) : packages.end();
    if (found == packages.end()) continue;
    const auto [all, own] = found->second;
    if (own > all || own == 0) return nullptr;
    const auto range = system_number(zone + "max_energy_range_uj"), count = system_number(zone + "energy_uj");
    if (!range || !count) return nullptr;
    zones.push_back({zone + "energy_uj", *range, static_cast<double>(own) / static_cast<double>(all), *count});
  }
  if (zones.empty()) return nullptr;
  return std::make_unique<PackageMeter>(std::move(zones));
}

}  // namespace

std::optional<double> EnergyMeter::joules() {
  const std::lock_guard lock(mutex_);
  const auto more = added();
  if (!more) return std::nullopt;
  joules_ += *more;
  return joules_;
}

std::unique_ptr<EnergyMeter> energy_meter(const mk_device_info& info, const std::vector<uint32_t>& cores,
                                          const EnergySources& sources) {
  if (on_cores(info)) return package_energy(cores, sources.root);
  constexpr std::string_view kPci = "pci:";
  const std::string place(info.physical_id, ::strnlen(info.physical_id, sizeof(info.physical_id)));
  return place.starts_with(kPci) ? nvidia_energy(sources.nvml, place.substr(kPci.size())) : nullptr;
}

}  // namespace mokume::device
