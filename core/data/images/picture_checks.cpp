#include "data/images/picture_checks.hpp"

#include <fmt/format.h>

#include "data/images/picture.hpp"
#include "data/input.hpp"
#include "sdk/error.hpp"

namespace mokume::data {

void check_picture_size(const std::string& path, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0) bad_data(path, "", "is a picture without pixels; save it again");
  if (width > kMaxPicturePixels / height)
    bad_data(path, "",
             fmt::format("has {} x {} pixels, more than the {} million allowed; make it smaller", width, height,
                         kMaxPicturePixels / 1'000'000));
}

void damaged_picture(const std::string& path, const char* kind, const char* why) {
  bad_data(path, "", fmt::format("is a damaged or truncated {} file ({}); save or fetch it again", kind, why));
}

}  // namespace mokume::data
