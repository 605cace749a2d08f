// Turns the lists of abi/op.h into C++: fields with their usual values, and names for texts.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "abi/op.h"

namespace mokume::ops {

struct Attribute {
  const char* name;
  int64_t usual;  // the bytes of the usual value
  enum Kind { integer, bits, real } kind;
};

template <class T>
constexpr Attribute attribute(const char* name, T usual) {
  return {name, std::bit_cast<int64_t>(usual),
          std::is_same_v<T, double>     ? Attribute::real
          : std::is_same_v<T, uint64_t> ? Attribute::bits
                                        : Attribute::integer};
}

}  // namespace mokume::ops

// Defines a field with its value, for F of a list.
#define MOKUME_FIELD(type, name, value) type name{value};

// Defines a table of the attributes of `type` from their list: LIST(MOKUME_ATTRIBUTE) or, for a list with parts,
// LIST(MOKUME_ATTRIBUTE, MOKUME_PART).
#define MOKUME_ATTRIBUTES(table, type, ...)           \
  inline constexpr Attribute table[] = {__VA_ARGS__}; \
  static_assert(sizeof(type) == 8 * std::size(table), #type " has padding")
// NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot be in parentheses.
#define MOKUME_ATTRIBUTE(type, name, value) attribute(#name, type{(value)}),
#define MOKUME_PART(type, name, LIST) LIST(MOKUME_ATTRIBUTE)
