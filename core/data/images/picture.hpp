#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

inline constexpr uint64_t kMaxPictureBytes = uint64_t{64} << 20;  // limit for the file size
inline constexpr uint64_t kMaxPicturePixels = 100'000'000;

// Holds pixels that are row-major from the top left, with innermost channels, in sRGB as stored in the file.
struct Picture {
  std::string name;      // file name without the directory, printable
  std::string note;      // conversions, such as "transparency on white", or ""
  int32_t width = 0;     // in pixels
  int32_t height = 0;    // in pixels
  int32_t channels = 1;  // 1 (grey) or 3 (red, green, blue)
  std::vector<uint8_t> pixels;
};

// Reads a PNG or JPEG file, which it recognizes by its first bytes. Composites transparency onto white, reduces
// palettes and 16-bit values to 8 bits per channel, and turns a JPEG upright according to its EXIF data. Throws
// Error(MK_BAD_DATA), which names the file, the problem and the cure, if the file is neither PNG nor JPEG, is
// truncated, damaged or too large, or uses CMYK.
Picture read_picture(const std::string& path);

}  // namespace mokume::data
