// Names the programs in the pose's record and in the resulting folders of cubins.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace mokume::pose {

// FNV-1a is enough, since it only distinguishes the programs of one tree.
inline std::string hash_of(std::string_view source, std::string_view options) {
  uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(source);
  add(std::string_view("\0", 1));
  add(options);
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016lx", static_cast<unsigned long>(hash));
  return text.data();
}

}  // namespace mokume::pose
