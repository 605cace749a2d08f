// What is known of a platform and its devices, how it is asked of OpenCL, and how it is written down: the helper
// program prints it, the cache keeps it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "abi/backend.h"
#include "support/cl.hpp"

namespace mokume::opencl {

struct PlatformRecord {
  std::string name;
  std::string version;
  std::vector<mk_device_info> devices;
  std::string problem;  // why a device of it is left out; "" if none is
};

// Cores this process may use, e.g. "cpu:0-1": what the host backend calls the same processor.
std::string cpu_id();

inline bool is_pocl(const mk_device_info& info) {
  return std::string_view(info.platform) == "Portable Computing Language";
}

// An option for programs: whether FETCH of common/vector.cl is an instruction.
inline const char* hints(const mk_device_info& info) {
  return is_pocl(info) && info.kind == MK_DEVICE_CPU ? " -DHINTS" : "";
}

mk_device_info describe_device(cl_platform_id platform, cl_device_id device);

struct DeviceHandle {
  cl_platform_id platform;
  cl_device_id device;
};

// All devices of one platform, in the driver's order.
std::vector<cl_device_id> devices_of(cl_platform_id platform);
std::vector<cl_platform_id> all_platforms();

// Asks every platform that the loader of this process has. With `try_compiler` each device must build and run a small
// kernel rightly, else it is left out and the platform's problem says so.
std::vector<PlatformRecord> describe_platforms(bool try_compiler);

// Before the lines of print(), where the driver cannot be loaded: why.
inline constexpr std::string_view kLoadError = "load_error ";

// Lines of "key value"; parse() skips what it does not know and cuts what is too long. Throws MK_BAD_DATA if the text
// is not one that print() wrote to its end.
std::string print(const std::vector<PlatformRecord>& platforms);
std::vector<PlatformRecord> parse(std::string_view text);

}  // namespace mokume::opencl
