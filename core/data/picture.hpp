// Pictures of any size and colour, from PNG and JPEG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

inline constexpr uint64_t kMaxPictureBytes = uint64_t{64} << 20;  // of a file
inline constexpr uint64_t kMaxPicturePixels = 100'000'000;

// Row-major from the top left, channels innermost, sRGB as files store it.
struct Picture {
  std::string name;      // the file's, without its directory, printable
  std::string note;      // what was done to have it so: "transparency on white", or ""
  int32_t width = 0;     // pixels
  int32_t height = 0;    // pixels
  int32_t channels = 1;  // 1: grey, 3: red, green, blue
  std::vector<uint8_t> pixels;
};

// Reads a PNG or JPEG file, told apart by its first bytes. Transparency is laid on white, palettes and 16 bits become 8
// bits a channel, and a JPEG is turned upright as its EXIF data says. Error(MK_BAD_DATA) names the file, what is wrong
// and the cure: neither PNG nor JPEG, cut or damaged, too large, CMYK.
Picture read_picture(const std::string& path);

}  // namespace mokume::data
