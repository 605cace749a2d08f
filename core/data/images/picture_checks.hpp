// Makes the checks that every picture decoder needs, because unchecked bytes count as hostile.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::data {

// Throws Error(MK_BAD_DATA) for no pixels or too many. Decoders call this function before they allocate memory.
void check_picture_size(const std::string& path, uint64_t width, uint64_t height);
// Throws Error(MK_BAD_DATA) with a message such as "is a damaged or truncated JPEG file (why)".
[[noreturn]] void damaged_picture(const std::string& path, const char* kind, const char* why);

}  // namespace mokume::data
