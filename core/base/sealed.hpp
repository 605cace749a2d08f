// JSON texts that carry a checksum of themselves as their last field: {...} -> {...,"crc":"89abcdef"} and a newline.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mokume::base {

// The checksum is CRC-32 (zlib) of the object as it was before, without newlines after it.
std::string seal(std::string object);
// The object of a sealed text, without its newline; no value if that is torn or damaged.
std::optional<std::string> unseal(std::string_view text);

// The object of a file that is one sealed text, or the text as it is where an older version wrote it without a
// checksum. No value if it is not as it was written.
struct Unsealed {
  std::string object;
  bool checked = false;  // it has a checksum
};
std::optional<Unsealed> unseal_file(std::string_view text);

}  // namespace mokume::base
