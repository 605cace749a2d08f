// Tests pictures as users have them, and malicious pictures.
#include "data/images/picture.hpp"
#include "data/images/picture_image.hpp"

#include <algorithm>

#include "pictures.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using Bytes = std::vector<uint8_t>;

class PictureTest : public DataTest {
 protected:
  Picture read(const std::string& content, const std::string& name = "a.png") const {
    return read_picture(write(name, content));
  }
  void expect_refused(const std::string& content, const std::vector<std::string>& words) const {
    expect_error(MK_BAD_DATA, words, [&] { read(content); });
  }
};

TEST_F(PictureTest, PngOfEveryKindIsRead) {
  const Picture rgb = read(png(2, 1, kPngRgb, {'\x01', '\x02', '\x03', '\xff', '\x80', '\x00'}));
  EXPECT_EQ(rgb.width, 2);
  EXPECT_EQ(rgb.height, 1);
  EXPECT_EQ(rgb.channels, 3);
  EXPECT_EQ(rgb.pixels, (Bytes{1, 2, 3, 255, 128, 0}));
  EXPECT_EQ(rgb.note, "");
  EXPECT_EQ(read(png(3, 1, kPngGrey, std::string("\x00\x7f\xff", 3))).pixels, (Bytes{0, 127, 255}));
  EXPECT_EQ(read(png(4, 1, kPngGrey, "\xa0", 1)).pixels, (Bytes{255, 0, 255, 0})) << "one bit";
  const Picture deep = read(png(2, 1, kPngGrey, std::string("\x80\x80\xff\xff", 4), 16));
  EXPECT_EQ(deep.pixels, (Bytes{128, 255})) << "16 bits";
  EXPECT_EQ(deep.note, "16 bits as 8");
  const std::string palette = png_chunk("PLTE", std::string("\x0a\x14\x1e\x00\x00\x00", 6));
  const Picture indexed = read(png(2, 1, kPngPalette, std::string("\x00\x01", 2), 8, palette));
  EXPECT_EQ(indexed.pixels, (Bytes{10, 20, 30, 0, 0, 0}));
}

TEST_F(PictureTest, TransparencyIsCompositedOntoWhite) {
  const Picture rgba = read(png(3, 1, kPngRgba, std::string("\x00\x00\x00\x00\x00\x00\x00\x80\x0a\x14\x1e\xff", 12)));
  EXPECT_EQ(rgba.channels, 3);
  EXPECT_EQ(rgba.pixels, (Bytes{255, 255, 255, 127, 127, 127, 10, 20, 30}));
  EXPECT_EQ(rgba.note, "transparency on white");
  EXPECT_EQ(read(png(2, 1, kPngGreyAlpha, std::string("\x00\x00\x64\xff", 4))).pixels, (Bytes{255, 100}));
  const std::string palette =
      png_chunk("PLTE", std::string("\x0a\x14\x1e\x00\x00\x00", 6)) + png_chunk("tRNS", std::string("\xff\x00", 2));
  EXPECT_EQ(read(png(2, 1, kPngPalette, std::string("\x00\x01", 2), 8, palette)).pixels,
            (Bytes{10, 20, 30, 255, 255, 255}));
}

TEST_F(PictureTest, JpegIsDistinguishedFromPngByItsContent) {
  std::string red;
  for (int i = 0; i < 16 * 8; ++i) red += std::string("\xe6\x14\x14", 3);
  const Picture colour = read(jpeg(16, 8, 3, red), "b.png");
  EXPECT_EQ(colour.width, 16);
  EXPECT_EQ(colour.height, 8);
  ASSERT_EQ(colour.pixels.size(), 16U * 8 * 3);
  for (size_t i = 0; i < colour.pixels.size(); ++i) EXPECT_NEAR(colour.pixels[i], i % 3 == 0 ? 230 : 20, 4);
  const Picture grey = read(jpeg(9, 5, 1, std::string(45, '\x64')), "c.txt");
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels, Bytes(45, 100));
  EXPECT_EQ(read(png(1, 1, kPngGrey, "\x07"), "d.jpg").pixels, (Bytes{7}));
  const Picture progressive = read(jpeg(16, 8, 3, red, [](jpeg_compress_struct& info, bool started) {
    if (!started) jpeg_simple_progression(&info);
  }));
  EXPECT_EQ(progressive.pixels, colour.pixels);
}

// Returns little- or big-endian Exif data: a TIFF with one entry, the orientation.
std::string exif(int orientation, bool little) {
  const auto n = [&](int value) {
    const char low = static_cast<char>(value & 255), high = static_cast<char>(value >> 8);
    return little ? std::string{low, high} : std::string{high, low};
  };
  const std::string zero(2, '\0');
  const std::string eight = little ? n(8) + zero : zero + n(8), one = little ? n(1) + zero : zero + n(1);
  return std::string("Exif\0\0", 6) + (little ? "II" : "MM") + n(42) + eight + n(1) + n(0x0112) + n(3) + one +
         n(orientation) + zero + zero + zero;
}

// Compares the position of the first stored pixel in the displayed picture with EXIF 2.3, 4.6.4.
TEST_F(PictureTest, PhotosAreTurnedUpright) {
  Canvas stored(32, 16, 0);
  stored.fill(0, 0, 8, 8, 255);
  stored.fill(8, 0, 8, 8, 128);  // distinguishes rotated from mirrored
  struct Corner {
    bool right, bottom, wide;
  };
  const Corner bright[] = {{false, false, true},  {true, false, true},  {true, true, true},  {false, true, true},
                           {false, false, false}, {true, false, false}, {true, true, false}, {false, true, false}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string data = exif(orientation, orientation % 2 == 0);
    const Picture seen = read(jpeg(32, 16, 1, stored.bytes, [&](jpeg_compress_struct& info, bool started) {
      if (started)
        jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const unsigned char*>(data.data()),
                          static_cast<unsigned>(data.size()));
    }));
    const Corner& want = bright[orientation - 1];
    EXPECT_EQ(seen.width, want.wide ? 32 : 16) << orientation;
    EXPECT_EQ(seen.height, want.wide ? 16 : 32) << orientation;
    const auto at = [&](int x, int y) {
      const int px = want.right ? seen.width - 1 - x : x, py = want.bottom ? seen.height - 1 - y : y;
      return static_cast<int>(seen.pixels[static_cast<size_t>(py * seen.width + px)]);
    };
    EXPECT_NEAR(at(3, 3), 255, 6) << orientation;
    EXPECT_NEAR(want.wide ? at(11, 3) : at(3, 11), 128, 6) << orientation;
    EXPECT_NEAR(want.wide ? at(3, 11) : at(11, 3), 0, 6) << orientation;
    EXPECT_EQ(seen.note, orientation == 1 ? "" : "turned upright");
  }
}

TEST_F(PictureTest, AFileThatIsNotAPictureIsRefused) {
  for (const std::string content : {"", "\x89PNG", "GIF89a", "not a picture", "\xff\xd8"})
    expect_refused(content, {"a.png", "is neither a PNG nor a JPEG file; convert it"});
  expect_refused("\x89PNG\r\n\x1a\n", {"is a damaged or truncated PNG file"});
  expect_refused("\xff\xd8\xff", {"is a damaged or truncated JPEG file"});
  expect_error(MK_BAD_DATA, {"gone.png"}, [&] { read_picture(path("gone.png")); });
  expect_error(MK_BAD_DATA, {"not a regular file"}, [&] { read_picture(directory_); });
  expect_refused(jpeg(8, 8, 4, std::string(256, 'x')), {"in CMYK", "save it as RGB"});
  EXPECT_EQ(read(png(1, 1, kPngGrey, "\x07"), "\x1b[2Jx.png").name, "?[2Jx.png") << "a name goes to a terminal";
}

TEST_F(PictureTest, SizesAreCheckedBeforeMemoryIsAllocated) {
  expect_refused(png(100'000, 250'000, kPngGrey, std::string(250'000, 'x')), {"more than the 100 million allowed"});
  std::string large = jpeg(16, 16, 1, std::string(256, 'x'));
  const size_t sof = large.find("\xff\xc0");
  ASSERT_NE(sof, std::string::npos);
  large.replace(sof + 5, 4, "\xff\xdc\xff\xdc");
  expect_refused(large, {"65500 x 65500 pixels"});
  std::filesystem::resize_file(write("big.png", png(1, 1, kPngGrey, "x")), kMaxPictureBytes + 1);
  expect_error(MK_BAD_DATA, {"big.png", "67108864"}, [&] { read_picture(path("big.png")); });
}

TEST_F(PictureTest, ATruncatedFileIsRefused) {
  Canvas canvas(40, 30, 255);
  canvas.fill(10, 10, 7, 9, 30);
  const std::string whole = canvas.png_file();
  const Bytes pixels = read(whole).pixels;
  for (size_t size = 8; size < whole.size(); ++size) {
    try {
      EXPECT_EQ(read(whole.substr(0, size)).pixels, pixels) << "cut at " << size;  // the cut is after the last pixel
      EXPECT_GT(size, whole.size() - 24);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA) << e.what();
    }
  }
  const std::string photo = jpeg(40, 30, 1, canvas.bytes);
  for (size_t size = 3; size < photo.size(); ++size)
    expect_refused(photo.substr(0, size), {"damaged or truncated JPEG"});
  std::string spoiled = whole;
  spoiled[spoiled.size() - 20] ^= 1;  // in the pixels or their checksum
  expect_refused(spoiled, {"damaged or truncated PNG"});
}

TEST_F(PictureTest, AnyByteMayBeWrong) {
  Canvas canvas(24, 16, 255);
  canvas.fill(4, 4, 7, 9, 30);
  const std::string data = exif(6, true);
  const std::string photo = jpeg(24, 16, 1, canvas.bytes, [&](jpeg_compress_struct& info, bool started) {
    if (!started) jpeg_simple_progression(&info);
    if (started)
      jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const unsigned char*>(data.data()),
                        static_cast<unsigned>(data.size()));
  });
  for (const std::string& whole : {canvas.png_file(), photo})
    for (size_t i = 3; i < whole.size(); ++i)
      for (const char mask : {'\x01', '\x80', '\xff'}) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(bytes[i] ^ mask);
        try {
          const Picture p = read(bytes);
          EXPECT_EQ(p.pixels.size(), static_cast<size_t>(p.width) * static_cast<size_t>(p.height * p.channels));
          to_model_image(p, {28, 28, 1});
        } catch (const Error& e) {
          EXPECT_EQ(e.status(), MK_BAD_DATA) << e.what();
        }
      }
}

// A repeated scan costs the file a few bytes, but the reader a whole pass over the picture.
TEST_F(PictureTest, EndlessScansAreRefused) {
  static const jpeg_scan_info kScans[2] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
  const std::string whole = jpeg(16, 16, 1, std::string(256, 'x'), [](jpeg_compress_struct& info, bool started) {
    if (started) return;
    info.scan_info = &kScans[0];
    info.num_scans = 2;
    info.optimize_coding = TRUE;
  });
  const size_t first = whole.find("\xff\xda"), rest = whole.find("\xff\xc4", first);
  ASSERT_LT(rest, whole.size());
  const auto repeated = [&](int times) {
    std::string bytes = whole.substr(0, first);
    for (int k = 0; k < times; ++k) bytes += whole.substr(first, rest - first);
    return bytes + whole.substr(rest);
  };
  EXPECT_EQ(read(repeated(50)).pixels, Bytes(256, 'x'));
  expect_refused(repeated(400), {"more than 100 scans"});
}

}  // namespace
}  // namespace mokume::data
