// Pictures of any size and colour, read from PNG and JPEG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

inline constexpr uint64_t kMaxPictureBytes = uint64_t{64} << 20;  // file size
inline constexpr uint64_t kMaxPicturePixels = 100'000'000;

// Row-major from the top left, channels innermost, sRGB as files store it.
struct Picture {
  std::string name;      // file name without the directory, printable
  std::string note;      // the conversions made: "transparency on white", or ""
  int32_t width = 0;     // pixels
  int32_t height = 0;    // pixels
  int32_t channels = 1;  // 1: grey, 3: red, green, blue
  std::vector<uint8_t> pixels;
};

// Reads a PNG or JPEG file, recognized by its first bytes. Transparency is composited onto white, palettes and 16-bit
// values become 8 bits per channel, and a JPEG is turned upright according to its EXIF data. Error(MK_BAD_DATA) names
// the file, the problem and the cure: neither PNG nor JPEG, truncated or damaged, too large, CMYK.
Picture read_picture(const std::string& path);

}  // namespace mokume::data
