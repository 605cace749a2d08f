// Decodes a JPEG file that is in memory.
#pragma once

#include <string>
#include <string_view>

#include "data/images/picture.hpp"

namespace mokume::data {

// Fills in `picture` as described at read_picture(). Messages name `path`.
void decode_jpeg(const std::string& path, std::string_view bytes, Picture& picture);

}  // namespace mokume::data
