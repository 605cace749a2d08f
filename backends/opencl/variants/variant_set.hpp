// One recorded choice: its variants, and how a device finds out which is the fastest.
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
  std::array<const char*, 3> values;  // "" for none
  // The kernels that are raced: where their text changes, a device measures again.
  std::span<const char* const> sources;
  // What a device may take, the likely winner first. The first is set while nothing is chosen yet.
  std::vector<std::string> (*candidates)(const mk_device& device);
  // Leaves the fastest in the slot. nullptr: the first candidate is taken.
  void (*race)(mk_device& device, mk_queue& queue);
};

}  // namespace mokume::opencl
