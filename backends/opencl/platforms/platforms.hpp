// Finds the devices of this machine. If they are cached, listing them loads no driver.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "platforms/describe.hpp"
#include "platforms/icd.hpp"
#include "platforms/pocl_cache.hpp"
#include "sdk/plugin.hpp"
#include "support/files.hpp"

namespace mokume::opencl {

// Holds the helper program's findings about one driver.
struct IcdReport {
  Icd icd;
  std::string problem;  // reason why the driver as a whole is left out, and the cure, or "" if it is used
  std::vector<PlatformRecord> platforms;
};

// Any thread may call any function.
class Platforms {
 public:
  explicit Platforms(const sdk::Host& host);

  // Returns the devices in a stable order. Until a device is opened, its memory sizes are those of the probe. The first
  // call reads the cache or starts the helper for each driver (20 s each at most, twice if the driver fails), and logs
  // which drivers and devices are left out and why. Under Oclgrind, which replaces OpenCL as a whole, the process
  // queries the devices itself.
  const std::vector<mk_device_info>& devices();

  // Returns the OpenCL handles of a device of devices(). The first call loads only the drivers that have devices.
  // Throws MK_INVALID_ARGUMENT for an invalid index, and MK_DEVICE_ERROR if the device is gone.
  DeviceHandle handle(uint32_t index);

  // Multiplies with the matrix units of a device in the helper program, because a compiler may crash on instructions
  // that it does not know. Returns why the device cannot use them, or "". The first call for a class of devices waits
  // for the helper, 120 s at most. The drivers must be loaded (handle()).
  std::string try_units(uint32_t index, const UnitProbe& probe);

  // Returns a private directory for this backend's files that outlives the run, or "" if there is none.
  const std::string& cache_directory() const { return cache_; }

 private:
  void find_devices();
  IcdReport probe(const Icd& icd) const;
  std::vector<std::string> environment_with(const std::string& directory) const;
  IcdReport ask_helper(const Icd& icd, const std::vector<std::string>& libraries) const;
  void report(const std::vector<IcdReport>& reports, const std::string& cache_file) const;
  void load_drivers();
  void refresh(mk_device_info& known, const mk_device_info& now);

  sdk::Host host_;
  std::string cache_;
  std::string cache_file_;  // holds the probe's results; "" without a cache
  std::mutex mutex_;
  bool found_ = false, loaded_ = false;
  std::vector<mk_device_info> devices_;
  std::vector<Icd> good_;
  PoclCache pocl_cache_;                         // set by find_devices()
  std::map<std::string, std::string> refusals_;  // results of try_units(), by device and program
};

}  // namespace mokume::opencl
