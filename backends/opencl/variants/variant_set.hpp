// A recorded choice: its variants, and the way in which a device determines the fastest.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "abi/backend.h"
#include "runtime/choices.hpp"

namespace mokume::opencl {

struct VariantSet {
  const char* key;
  std::string Choices::*slot;
  std::array<const char*, 3> values;  // "" for unused entries
  // The sources of the kernels in the race. If their text changes, a device measures again.
  std::span<const char* const> sources;
  // Returns the variants that the device supports, likely winner first. The first is used until a variant is chosen.
  std::vector<std::string> (*candidates)(const mk_device& device);
  // Leaves the fastest variant in the slot. nullptr: the first candidate is taken without a race.
  void (*race)(mk_device& device, mk_queue& queue);
};

}  // namespace mokume::opencl
