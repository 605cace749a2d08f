// Reads how much energy a device has used, where the processor or the driver counts it.
//
// A processor counts the energy of each package (RAPL). A package has one counter for all its cores, so a device that
// computes on cores is charged for the package's energy in proportion to the cores that it has of the package: the
// rest belongs to other programs and devices. An NVIDIA GPU counts the energy of the whole card (NVML). Other devices,
// and machines that let only the administrator read the counters, have none.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "abi/backend.h"

namespace mokume::device {

// Adds up what a device has used since this object exists. Any thread may use it.
class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  // Returns nothing while a counter cannot be read. Must be called before a counter passes its end twice, which takes
  // minutes at full power.
  std::optional<double> joules();

 protected:
  virtual std::optional<double> added() = 0;  // returns the joules since the last call that returned a value

 private:
  std::mutex mutex_;
  double joules_ = 0;
};

struct EnergySources {
  std::string root = {};                   // prefix of /sys
  std::string nvml = "libnvidia-ml.so.1";  // library of NVIDIA's driver
};

// Returns null if nothing counts the device's energy. `cores` are the cores that the device computes on, if any.
std::unique_ptr<EnergyMeter> energy_meter(const mk_device_info& info, const std::vector<uint32_t>& cores,
                                          const EnergySources& sources = {});

}  // namespace mokume::device
