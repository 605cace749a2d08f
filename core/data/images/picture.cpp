#include "data/images/picture.hpp"

#include <png.h>

#include <fmt/format.h>

#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"
#include "data/images/picture_checks.hpp"
#include "data/images/picture_jpeg.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

// libpng's simplified interface catches its own longjmp, so that no jump crosses a frame of this program.
struct PngImage {
  png_image image{};
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

// Composites colours with a trailing alpha channel onto white, in place. Uses the stored values, as browsers do.
void lay_on_white(std::vector<uint8_t>& pixels, size_t count, size_t channels) {
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* from = pixels.data() + i * (channels + 1);
    const uint32_t alpha = from[channels];
    for (size_t c = 0; c < channels; ++c)
      pixels[i * channels + c] = static_cast<uint8_t>((from[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
  pixels.resize(count * channels);
}

std::string printable_name(const std::string& path) { return base::without_controls(path.substr(path.rfind('/') + 1)); }

}  // namespace

void decode_png(const std::string& path, std::string_view bytes, Picture& picture) {
  PngImage png;
  png_image& image = png.image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    damaged_picture(path, "PNG", image.message);
  check_picture_size(path, image.width, image.height);
  const bool colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0, alpha = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  image.format = colour ? (alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB) : (alpha ? PNG_FORMAT_GA : PNG_FORMAT_GRAY);
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // otherwise, libpng takes 16-bit values without gamma for linear light
  const size_t count = size_t{image.width} * image.height, channels = colour ? 3 : 1;
  picture.width = static_cast<int32_t>(image.width);
  picture.height = static_cast<int32_t>(image.height);
  picture.channels = static_cast<int32_t>(channels);
  picture.pixels.resize(count * (channels + (alpha ? 1 : 0)));
  if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0)
    damaged_picture(path, "PNG", image.message);
  constexpr size_t kBitDepth = 24;  // its offset in a PNG file, within the header that was read
  if (bytes[kBitDepth] == 16) picture.note = "16 bits as 8";
  if (!alpha) return;
  lay_on_white(picture.pixels, count, channels);
  picture.note += picture.note.empty() ? "transparency on white" : ", transparency on white";
}

Picture read_picture(const std::string& path) {
  const std::string bytes = base::read_file(path, kMaxPictureBytes);
  Picture picture;
  picture.name = printable_name(path);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    decode_png(path, bytes, picture);
  else if (bytes.starts_with("\xff\xd8\xff"))
    decode_jpeg(path, bytes, picture);
  else
    bad_data(path, "", "is neither a PNG nor a JPEG file; convert it to one of them");
  return picture;
}

}  // namespace mokume::data
