// Describes platforms and devices: data, queries, and the text form that the helper program prints and the cache
// stores.
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
  std::string problem;  // reason why a device of this platform is left out, or ""
};

inline bool is_pocl(const mk_device_info& info) {
  return std::string_view(info.platform) == "Portable Computing Language";
}

inline bool is_intel_gpu(const mk_device_info& info) {
  return info.kind == MK_DEVICE_GPU && std::string_view(info.platform).starts_with("Intel(R) OpenCL");
}

inline bool is_nvidia(const mk_device_info& info) { return std::string_view(info.platform) == "NVIDIA CUDA"; }

// Returns an option for programs that makes Intel's compiler use offsets of 64 bits, which larger buffers need.
inline const char* wide_offsets(const mk_device_info& info) {
  constexpr uint64_t kFourGb = uint64_t{1} << 32;
  return info.max_buffer_bytes > kFourGb && is_intel_gpu(info) ? " -cl-intel-greater-than-4GB-buffer-required" : "";
}

// Returns an option for all programs, also those of plugins: it defines HINTS where __builtin_prefetch is an
// instruction.
inline const char* hints(const mk_device_info& info) {
  return is_pocl(info) && info.kind == MK_DEVICE_CPU ? " -DHINTS" : "";
}

mk_device_info describe_device(cl_platform_id platform, cl_device_id device);

struct DeviceHandle {
  cl_platform_id platform;
  cl_device_id device;
};

std::vector<cl_device_id> devices_of(cl_platform_id platform);
std::vector<cl_platform_id> all_platforms();

// Describes every platform that this process's loader has. With `try_compiler`, each device must build and run a small
// kernel correctly, which also shows whether its compiler fuses (MK_DEVICE_FUSES). Leaves out a device that fails, and
// states the reason in the platform's problem.
std::vector<PlatformRecord> describe_platforms(bool try_compiler);

// A program whose kernel unit_probe multiplies one block with matrix units (units/unit_probe.cl).
struct UnitProbe {
  std::string options, source;
  int64_t lanes, columns, terms;  // work-items of the group, columns of the block, and terms of each
};

// Runs the kernel on a device: the one after `before` others with these names. Returns kUnitsWork, or kUnitsRefused
// with the reason why the device cannot use its units.
std::string try_units(const std::string& platform, const std::string& device, int64_t before, const UnitProbe& probe);
inline constexpr std::string_view kUnitsWork = "units work", kUnitsRefused = "units refused: ";

// Begins a line before those of print(), which states why the driver cannot be loaded.
inline constexpr std::string_view kLoadError = "load_error ";

// Returns lines of "key value". parse() skips unknown keys and truncates values that are too long. It throws
// MK_BAD_DATA unless the text is complete output of print().
std::string print(const std::vector<PlatformRecord>& platforms);
std::vector<PlatformRecord> parse(std::string_view text);

// Returns whether the device promises to round quotients and square roots correctly if a program asks it to.
bool rounds_quotients(cl_device_id device);

}  // namespace mokume::opencl
