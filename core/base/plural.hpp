#pragma once

#include <cstdint>
#include <string>

namespace mokume::base {

// Returns a count with its noun, e.g. "1 fit" or "12 fits". Nouns that do not simply take an s need `plural`.
inline std::string counted(uint64_t count, const std::string& noun, const std::string& plural = "") {
  return std::to_string(count) + " " + (count == 1 ? noun : plural.empty() ? noun + "s" : plural);
}

}  // namespace mokume::base
