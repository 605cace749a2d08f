// Declares the native version of kernels/blocked.cl, for backends without kernels.
#pragma once

#include <cstdint>

#include "per_isa.hpp"
#include "places.hpp"

namespace mokume::svc {

constexpr int64_t kCounts = 5;  // integers per place; COUNTS in kernels/blocked.cl

// Holds the arrays of kernels/blocked.cl. `set` is the largest size of a working set.
struct BlockArrays {
  PlaceArrays places;
  int64_t set;
  int32_t* counts;
  int32_t* members;
  int32_t* moved;
  float* delta;
  float* tile;
};

// Holds the functions for one instruction set. They may run concurrently for different places.
struct BlockedFunctions {
  void (*choose)(const BlockArrays& arrays, int32_t place, int32_t want) noexcept;
  // Copies the kernel values between all members and the members in the rows [from, to).
  void (*gather)(const BlockArrays& arrays, int32_t place, int32_t from, int32_t to) noexcept;
  // Hands a problem over to LIBSVM's steps after `most_poor` poor rounds (blocked_solver.hpp).
  void (*solve)(const BlockArrays& arrays, int32_t place, float largest, int32_t most_poor) noexcept;
  // Updates F in the blocks [from, to).
  void (*update)(const BlockArrays& arrays, int32_t place, int64_t from, int64_t to) noexcept;
};

// Returns the functions for the best instruction set of this CPU. All instruction sets give the same bits.
BlockedFunctions blocked_native(Storage storage);

SVC_PER_ISA(BlockedFunctions blocked(Storage storage) noexcept)

}  // namespace mokume::svc
