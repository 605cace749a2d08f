// Describes the card that the layer poses as, from a file of cards/.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mokume::pose {

struct Card {
  struct {
    std::string name, vendor, version;
  } platform;

  std::string name, vendor, version, driver;
  cl_uint vendor_id = 0, compute_units = 1;
  cl_uint wave = 32;               // work-items that run in lockstep
  std::vector<size_t> sub_groups;  // sizes that the compiler may choose; empty if it has no choice
  bool fp64 = false, fma = true;
  bool shared_memory = false;  // the card has no memory of its own
  cl_ulong memory_bytes = 0, buffer_bytes = 0;
  std::vector<std::string> extensions;
  std::array<cl_uint, 4> pci{};                              // domain, bus, device, function
  std::optional<std::array<cl_uint, 2>> compute_capability;  // NVIDIA's

  // The card enforces these limits, with these error codes.
  size_t work_group = 0;
  std::array<size_t, 3> work_item_sizes{};
  std::array<size_t, 3> groups{};  // limit for a launch
  size_t local_bytes = 0;          // limit for a work-group
  size_t parameter_bytes = 0;      // limit for a kernel's arguments
  cl_int groups_error = 0, local_error = 0, parameter_error = 0;

  bool has_extension(const std::string& extension) const;
  std::string extension_text() const;
};

// Throws std::runtime_error with one sentence that names the file, the key and the cure.
Card read_card(const std::string& path);

}  // namespace mokume::pose
