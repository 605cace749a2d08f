// Describes a recorded choice: its variants, and how a device determines the fastest one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/backend.h"
#include "runtime/choices.hpp"

namespace mokume::opencl {

struct VariantSet {
  const char* key;
  std::string Choices::*slot;
  std::vector<std::string_view> values;
  // Holds the sources of the kernels in the race. If their text changes, a device measures again.
  std::span<const char* const> sources;
  // Returns the variants that the device supports, the likely winner first, which the device uses before the race.
  std::vector<std::string> (*candidates)(const mk_device& device);
  // Leaves the fastest variant in the slot. Without a race (nullptr), the first candidate is chosen.
  void (*race)(mk_device& device, mk_queue& queue);
};

}  // namespace mokume::opencl
