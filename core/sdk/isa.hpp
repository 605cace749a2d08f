// Names the instruction sets that native loops are compiled for, and finds the widest one that may be used.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "sdk/error.hpp"

namespace mokume::sdk {

enum class Isa { kBase, kNeon, kAvx2, kAvx512 };

// The widest set comes last.
inline constexpr std::array<std::pair<std::string_view, Isa>, 4> kIsas{
    {{"base", Isa::kBase}, {"neon", Isa::kNeon}, {"avx2", Isa::kAvx2}, {"avx512", Isa::kAvx512}}};

// Returns whether the processor and the operating system support a set. The tested features cover all features with
// which the build compiles loops for the set.
inline bool offers(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (isa == Isa::kAvx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#elif defined(__aarch64__)
  if (isa == Isa::kNeon) return true;
#endif
  return isa == Isa::kBase;
}

// Returns the widest set that this machine offers. The environment variable MOKUME_ISA names a narrower one, with which
// a user can measure and compare. Throws Error(MK_INVALID_ARGUMENT) if it names a set that this machine lacks.
inline Isa widest_isa() {
  const char* const given = std::getenv("MOKUME_ISA");
  const std::string_view wanted = given == nullptr ? "" : given;
  std::string offered;
  Isa widest = Isa::kBase;
  for (const auto& [name, isa] : kIsas) {
    if (!offers(isa)) continue;
    widest = isa;
    offered += (offered.empty() ? "" : ", ") + std::string(name);
    if (name == wanted) return isa;
  }
  if (wanted.empty()) return widest;
  throw Error(MK_INVALID_ARGUMENT,
              "MOKUME_ISA is '" + std::string(wanted) + "', but this machine offers only these: " + offered);
}

}  // namespace mokume::sdk
