// Checks that every decoder of pictures makes: the bytes are hostile until then.
#pragma once

#include <cstdint>
#include <string>

namespace mokume::data {

// Before memory is taken for what a header claims. Error(MK_BAD_DATA).
void check_picture_size(const std::string& path, uint64_t width, uint64_t height);
// Error(MK_BAD_DATA): "is a damaged or cut JPEG file (why)".
[[noreturn]] void damaged_picture(const std::string& path, const char* kind, const char* why);

}  // namespace mokume::data
