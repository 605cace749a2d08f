#include "data/images/picture_jpeg.hpp"

// Decodes JPEG with libjpeg-turbo. libjpeg leaves a failed call with longjmp(), which runs no destructors. The
// functions that it may leave (JpegReader::begin, JpegReader::read and the callbacks) therefore have no objects with
// destructors; everything that needs cleanup lives outside them.
#include <csetjmp>
#include <cstdio>
#include <optional>
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

#include "data/images/picture_checks.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

// A progressive file with a few bytes per scan can cause hours of work; encoders write about ten scans.
constexpr int kMaxScans = 100;
constexpr int kExif = JPEG_APP0 + 1;

struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf failed{};
  char why[JMSG_LENGTH_MAX] = "";

  JpegReader() = default;
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Reads the header. On failure, returns false and sets `why`.
  bool begin(const unsigned char* bytes, size_t size);
  // Reads all pixels into rows of `stride` bytes.
  bool read(uint8_t* to, size_t stride);
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  info->err->format_message(info, reader->why);
  std::longjmp(reader->failed, 1);
}

// Rejects incomplete pictures, whose missing parts libjpeg fills in with a warning.
void warned(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  if (code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM && code != JWRN_BOGUS_ICC)
    fail(info);
}

void count_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
  auto* reader = static_cast<JpegReader*>(info->client_data);
  std::snprintf(reader->why, sizeof(reader->why), "more than %d scans", kMaxScans);
  std::longjmp(reader->failed, 1);
}

bool JpegReader::begin(const unsigned char* bytes, size_t size) {
  info.err = jpeg_std_error(&errors);
  info.client_data = this;
  errors.error_exit = fail;
  errors.emit_message = warned;
  if (setjmp(failed) != 0) return false;
  jpeg_create_decompress(&info);
  progress.progress_monitor = count_scans;
  info.progress = &progress;
  jpeg_mem_src(&info, bytes, static_cast<unsigned long>(size));
  jpeg_save_markers(&info, kExif, 0xFFFF);
  jpeg_read_header(&info, TRUE);
  return true;
}

bool JpegReader::read(uint8_t* to, size_t stride) {
  if (setjmp(failed) != 0) return false;
  info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.dct_method = JDCT_ISLOW;  // the accurate method
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = to + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

// Reads unsigned numbers of the TIFF structure inside EXIF data, in the byte order of that structure.
struct Tiff {
  const unsigned char* bytes;
  size_t size;
  bool little;

  std::optional<uint32_t> number(size_t at, size_t length) const {
    if (at > size || length > size - at) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < length; ++i) value = value << 8 | bytes[at + (little ? length - 1 - i : i)];
    return value;
  }
};

// Returns the orientation of EXIF 2.3, 4.6.4 (tag 0x0112): 1 (default) is upright, 2 to 8 are mirrored or rotated.
uint32_t orientation_of(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next) {
    const std::string_view text(reinterpret_cast<const char*>(m->data), m->data_length);
    if (m->marker != kExif || !text.starts_with(std::string_view("Exif\0\0", 6)) || text.size() < 14) continue;
    const Tiff tiff{m->data + 6, text.size() - 6, text[6] == 'I'};
    const size_t directory = tiff.number(4, 4).value_or(0);
    const uint32_t entries = tiff.number(directory, 2).value_or(0);
    for (uint32_t e = 0; e < entries; ++e) {
      const size_t at = directory + 2 + size_t{12} * e;
      if (tiff.number(at, 2) != 0x0112U) continue;
      const uint32_t value = tiff.number(at + 8, 2).value_or(1);
      return value >= 1 && value <= 8 ? value : 1;
    }
  }
  return 1;
}

void turn_upright(uint32_t orientation, Picture& picture) {
  if (orientation == 1) return;
  const auto w = static_cast<size_t>(picture.width), h = static_cast<size_t>(picture.height),
             c = static_cast<size_t>(picture.channels);
  const bool swapped = orientation >= 5;
  const size_t width = swapped ? h : w, height = swapped ? w : h;
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  std::vector<uint8_t> pixels(picture.pixels.size());
  uint8_t* to = pixels.data();
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      const size_t sx = swapped ? y : x, sy = swapped ? x : y;
      const uint8_t* from = picture.pixels.data() + ((flip_y ? h - 1 - sy : sy) * w + (flip_x ? w - 1 - sx : sx)) * c;
      for (size_t k = 0; k < c; ++k) *to++ = from[k];
    }
  picture.pixels = std::move(pixels);
  picture.width = static_cast<int32_t>(width);
  picture.height = static_cast<int32_t>(height);
  picture.note = "turned upright";
}

}  // namespace

void decode_jpeg(const std::string& path, std::string_view bytes, Picture& picture) {
  JpegReader reader;
  if (!reader.begin(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    damaged_picture(path, "JPEG", reader.why);
  const jpeg_decompress_struct& info = reader.info;
  check_picture_size(path, info.image_width, info.image_height);
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK || info.num_components == 4)
    bad_data(path, "", "is a JPEG file in CMYK, a colour space for printing; save it as RGB");
  picture.width = static_cast<int32_t>(info.image_width);
  picture.height = static_cast<int32_t>(info.image_height);
  picture.channels = info.num_components == 1 ? 1 : 3;
  const size_t stride = size_t{info.image_width} * static_cast<size_t>(picture.channels);
  picture.pixels.resize(stride * info.image_height);
  const uint32_t orientation = orientation_of(info);  // reading all pixels frees the markers
  if (!reader.read(picture.pixels.data(), stride)) damaged_picture(path, "JPEG", reader.why);
  turn_upright(orientation, picture);
}

}  // namespace mokume::data
