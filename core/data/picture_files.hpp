// The decoders behind read_picture(): whole files in memory, whose bytes are hostile until checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/picture.hpp"

namespace mokume::data {

void decode_png(const std::string& path, std::string_view bytes, Picture& picture);
void decode_jpeg(const std::string& path, std::string_view bytes, Picture& picture);

// Before memory is taken for what a header claims. Error(MK_BAD_DATA).
void check_picture_size(const std::string& path, uint64_t width, uint64_t height);
// Error(MK_BAD_DATA): "is a damaged or cut JPEG file (why)".
[[noreturn]] void damaged_picture(const std::string& path, const char* kind, const char* why);

}  // namespace mokume::data
