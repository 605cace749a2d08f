// Checks that every picture decoder makes; unchecked bytes count as hostile.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::data {

// Call this before allocating memory for a claimed size. Throws Error(MK_BAD_DATA) for no pixels or too many.
void check_picture_size(const std::string& path, uint64_t width, uint64_t height);
// Throws Error(MK_BAD_DATA): "is a damaged or truncated JPEG file (why)".
[[noreturn]] void damaged_picture(const std::string& path, const char* kind, const char* why);

}  // namespace mokume::data
