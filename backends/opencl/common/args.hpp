// Defines the types of args.h for the host, and checks the structs that kernels take.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace mokume::opencl {

using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using f32 = float;

// Gives the name that kernels use for a struct of arguments.
template <class Args>
struct ArgsName;

// A call is a constant expression only if every byte of the struct belongs to a member.
template <class Args>
constexpr bool has_no_padding() {
  return std::bit_cast<std::array<uint32_t, sizeof(Args) / sizeof(uint32_t)>>(Args{})[0] == 0;
}

}  // namespace mokume::opencl

#define BEGIN_ARGS namespace mokume::opencl {
#define END_ARGS }
// Must follow every struct that a kernel takes. Groups and sequences store structs as whole longs.
#define ARGS(type)                                                                      \
  template <>                                                                           \
  struct ArgsName<type> {                                                               \
    static constexpr const char* kName = #type;                                         \
  };                                                                                    \
  static_assert(std::is_standard_layout_v<type> && std::is_trivially_copyable_v<type>); \
  static_assert(sizeof(type) % sizeof(i64) == 0 && alignof(type) == alignof(i64));      \
  static_assert(has_no_padding<type>(), #type " has padding: put larger members first, fill up with `reserved`");
