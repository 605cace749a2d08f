// Seals JSON texts with a checksum as the last field: {...} becomes {...,"crc":"89abcdef"} and a newline.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mokume::base {

// Appends the CRC-32 (zlib) of the object without its trailing newlines.
std::string seal(std::string object);
// Returns the object of a sealed text, without its newline, or no value if the text is torn or damaged.
std::optional<std::string> unseal(std::string_view text);

// Holds the object of a file that consists of one sealed text, or the unchanged text of a file that an older version
// wrote without a checksum. unseal_file() returns no value if the file is damaged.
struct Unsealed {
  std::string object;
  bool checked = false;  // whether the file has a checksum
};
std::optional<Unsealed> unseal_file(std::string_view text);

}  // namespace mokume::base
