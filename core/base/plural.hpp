// Numbers with their nouns.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::base {

// "1 fit", "12 fits"; with `plural` for nouns that do not just take an s.
inline std::string counted(uint64_t count, const std::string& noun, const std::string& plural = "") {
  return std::to_string(count) + " " + (count == 1 ? noun : plural.empty() ? noun + "s" : plural);
}

}  // namespace mokume::base
