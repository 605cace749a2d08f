// Emulates fused multiply-adds on processors without the instruction: the product of two floats is exact as a double,
// and its sum with a third float is rounded to odd, so that the second rounding, to a float, sees on which side of a
// tie it lies (S. Boldo, G. Melquiond: Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd. IEEE Trans. Computers 57(4), 2008).
//
// Files that are compiled once per instruction set include this header. Its function therefore has internal linkage,
// and the header includes C headers only: the linker must not replace one set's copy by another's.
#pragma once

#include <stdint.h>
#include <string.h>

namespace mokume::sdk {

// Returns product + more, rounded to odd: if the sum is inexact, its last bit becomes 1. Doubles is double or a vector
// of doubles, and Words an integer of 64 bits or a vector of as many. The build must not fuse (-ffp-contract=off).
template <class Words, class Doubles>
[[maybe_unused]] static inline Doubles rounded_to_odd(Doubles product, Doubles more) {
  // A comparison of vectors gives masks; one of numbers gives a bool.
  const auto mask = [](auto compared) {
    if constexpr (sizeof(Doubles) == sizeof(double))
      return -static_cast<Words>(compared);
    else
      return compared;
  };
  const Doubles sum = product + more, of_more = sum - product, zero{};
  const Doubles rest = (product - (sum - of_more)) + (more - of_more);
  const Words upwards = mask(rest > zero), outwards = (upwards ^ mask(sum > zero)) | 1;
  const Words inexact = upwards | mask(rest < zero);  // false for NaN, which infinite sums leave
  Words bits;
  memcpy(&bits, &sum, sizeof bits);
  const Words even = (bits & 1) - 1;
  bits += outwards & inexact & even;
  Doubles odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

}  // namespace mokume::sdk
