// Makes PNG and JPEG files in memory. Writes PNG chunk by chunk, so that tests can falsify every header.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace mokume::data {

inline std::string png_number(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return png_number(static_cast<uint32_t>(data.size())) + body + png_number(static_cast<uint32_t>(crc));
}

enum PngColour : char { kPngGrey = 0, kPngRgb = 2, kPngPalette = 3, kPngGreyAlpha = 4, kPngRgba = 6 };

// `rows` holds the bytes of `height` rows of equal length. `extra` holds chunks that precede the pixels.
inline std::string png(uint32_t width, uint32_t height, PngColour colour, const std::string& rows, int depth = 8,
                       const std::string& extra = "") {
  std::string filtered;
  const size_t stride = rows.size() / height;
  for (size_t y = 0; y < height; ++y) filtered += '\0' + rows.substr(y * stride, stride);
  uLongf size = compressBound(static_cast<uLong>(filtered.size()));
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(filtered.data()),
           static_cast<uLong>(filtered.size()));
  packed.resize(size);
  const std::string header = png_number(width) + png_number(height) + static_cast<char>(depth) +
                             static_cast<char>(colour) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + extra + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

// In `pixels`, the channels (1 grey, 3 RGB, 4 CMYK) are innermost. `more` may change settings before the first row, and
// a second call after the start may add markers.
inline std::string jpeg(uint32_t width, uint32_t height, int channels, std::string pixels,
                        const std::function<void(jpeg_compress_struct&, bool started)>& more = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = width;
  info.image_height = height;
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (more) more(info, false);
  jpeg_start_compress(&info, TRUE);
  if (more) more(info, true);
  while (info.next_scanline < height) {
    auto* row = reinterpret_cast<unsigned char*>(pixels.data()) +
                static_cast<size_t>(info.next_scanline) * width * static_cast<size_t>(channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string made(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return made;
}

// Holds grey values on a canvas; `bytes` is the input of png().
struct Canvas {
  uint32_t width, height;
  std::string bytes;

  Canvas(uint32_t w, uint32_t h, int ground) : width(w), height(h), bytes(size_t{w} * h, static_cast<char>(ground)) {}
  void fill(uint32_t x, uint32_t y, uint32_t w, uint32_t h, int value) {
    for (uint32_t r = y; r < y + h; ++r)
      for (uint32_t c = x; c < x + w; ++c) bytes[size_t{r} * width + c] = static_cast<char>(value);
  }
  std::string png_file() const { return png(width, height, kPngGrey, bytes); }
};

}  // namespace mokume::data
