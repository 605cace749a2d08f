#include "data/idx.hpp"

#include <random>

#include "support.hpp"

namespace mokume::data {
namespace {

class Idx : public DataTest {};

const std::string kImages = idx({3, 2, 2}, std::string("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\xfe\xff", 12));
const std::string kLabels = idx({3}, "\x07\x02\x07");

TEST_F(Idx, ReadsPlainAndGzipAlike) {
  const RawTable plain = read_idx(write("i", kImages), write("l", kLabels), 0);
  const RawTable packed = read_idx(write_gz("i.gz", kImages), write_gz("l.gz", kLabels), 0);
  EXPECT_EQ(plain.table.rows, 3);
  EXPECT_EQ(plain.table.features, 4);
  EXPECT_EQ(plain.table.x, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254, 255}));
  EXPECT_EQ(plain.shape, (Shape{2, 2, 1}));
  EXPECT_EQ(read_idx(write("flat", idx({3, 4}, std::string(12, 'a'))), "", 0).shape.channels, 0) << "no image";
  EXPECT_EQ(plain.labels.values, (std::vector<double>{7, 2, 7}));
  EXPECT_EQ(packed.table.x, plain.table.x);
  EXPECT_EQ(packed.labels.values, plain.labels.values);
}

TEST_F(Idx, FourDimensionsAreImagesWithChannels) {
  const RawTable part = read_idx(write("i", idx({2, 1, 2, 3}, "abcdefghijkl")), "", 1);
  EXPECT_EQ(part.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(part.table.features, 6);
  EXPECT_EQ(part.table.x, (std::vector<float>{'a', 'b', 'c', 'd', 'e', 'f'}));
}

TEST_F(Idx, KeepsTheFirstRowsButAllLabels) {
  const RawTable part = read_idx(write("i", kImages), write("l", kLabels), 2);
  EXPECT_EQ(part.table.rows, 2);
  EXPECT_EQ(part.table.x.size(), 8U);
  EXPECT_EQ(part.labels.values.size(), 3U);
}

TEST_F(Idx, RowsLongerThanOnePieceStayInOrder) {
  std::string values;
  for (int i = 0; i < 200000; ++i) values += static_cast<char>(i % 251);
  const RawTable part = read_idx(write("i", idx({2, 100000}, values)), "", 0);
  for (int i = 0; i < 200000; ++i) ASSERT_EQ(part.table.x[static_cast<size_t>(i)], static_cast<float>(i % 251));
}

TEST_F(Idx, RefusesMalformedImages) {
  const struct {
    std::string content;
    std::vector<std::string> words;
  } cases[] = {
      {"", {"offset 0", "ends inside the header"}},
      {std::string("\0\0\x08", 3), {"offset 0", "ends inside the header"}},
      {"P5 28 28 255", {"offset 0", "not an IDX file of images"}},
      {std::string("\0\0\x0d\x03", 4), {"offset 2", "element type 13"}},
      {idx({3}, "abc"), {"offset 3", "1 dimensions", "swapped"}},
      {idx({1, 1, 1, 1, 1}, "a"), {"offset 3", "5 dimensions"}},
      {idx({3, 2, 2}, "").substr(0, 10), {"offset 8", "ends inside the header"}},
      {idx({0, 2, 2}, ""), {"offset 4", "dimension of 0"}},
      {idx({3, 0, 2}, ""), {"offset 8", "dimension of 0"}},
      {idx({0xffffffff, 0xffffffff, 0xffffffff}, "abc"), {"offset 8", "features"}},
      {idx({0xffffffff, 28, 28}, "abc"), {"offset 4", "declares 3367254359280 values"}},
      {idx({3, 2, 2}, "0123456789"), {"declares 12 values"}},
      {idx({3, 2, 2}, "0123456789abc"), {"continues after the 12 values"}},
  };
  for (const auto& c : cases) {
    const std::string file = write("bad", c.content);
    std::vector<std::string> words = c.words;
    words.push_back("'" + file + "'");
    expect_error(MK_BAD_DATA, words, [&] { read_idx(file, "", 0); });
  }
  // The header of a small file claims less than gzip could hold, so only reading it reveals the truncation.
  expect_error(MK_BAD_DATA, {"value 10", "ends early"}, [&] {
    read_idx(write_gz("short.gz", idx({3, 2, 2}, "0123456789")), "", 0);
  });
}

TEST_F(Idx, RefusesMalformedLabels) {
  const std::string images = write("i", kImages);
  const struct {
    std::string content;
    std::vector<std::string> words;
  } cases[] = {
      {kImages, {"3 dimensions", "not an IDX file of labels"}},
      {idx({2}, "\x01\x02"), {"2 labels for the 3 images", images}},
      {idx({3}, "\x01\x02"), {"declares 3"}},
  };
  for (const auto& c : cases) expect_error(MK_BAD_DATA, c.words, [&] { read_idx(images, write("bad", c.content), 0); });
}

TEST_F(Idx, RefusesDamagedAndHugeGzip) {
  const std::string whole = write_gz("i.gz", idx({100, 10, 10}, std::string(10000, 'x') + ""));
  std::ifstream in(whole, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  expect_error(MK_BAD_DATA, {"gzip", "fetch it again"},
               [&] { read_idx(write("cut.gz", bytes.substr(0, bytes.size() - 12)), "", 0); });
  std::string flipped = bytes;
  flipped[bytes.size() - 6] = static_cast<char>(flipped[bytes.size() - 6] ^ 1);  // a byte of the checksum
  expect_error(MK_BAD_DATA, {"damaged gzip stream"}, [&] { read_idx(write("flip.gz", flipped), "", 0); });
  // Fewer than 100 bytes cannot unpack to four billion images, whatever the header says.
  expect_error(MK_BAD_DATA, {"declares", "more than the file can hold"}, [&] {
    read_idx(write_gz("bomb.gz", idx({0xffffffff, 28, 28}, "abc")), "", 0);
  });
}

// Returns the number of bytes that this process has read from files.
uint64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  uint64_t bytes = 0;
  for (std::string name; name != "rchar:" && counts >> name >> bytes;) continue;
  return bytes;
}

TEST_F(Idx, TheImagesBehindTheLimitAreReadOnceUntilTheFileChanges) {
  constexpr uint32_t kRows = 4000, kFeatures = 1000;
  std::mt19937 draw(1);
  std::string values(size_t{kRows} * kFeatures, '\0');
  for (char& value : values) value = static_cast<char>(draw());  // gzip cannot make random bytes smaller
  const std::string file = write_gz("i.gz", idx({kRows, kFeatures}, values)), cache = path("cache");
  const uint64_t size = std::filesystem::file_size(file);
  const auto read_by = [&](const std::string& with) {
    const uint64_t before = bytes_read();
    const RawTable part = read_idx(file, "", 2, with);
    EXPECT_EQ(part.table.x.size(), 2 * kFeatures);
    EXPECT_EQ(part.table.x[1999], static_cast<float>(static_cast<unsigned char>(values[1999])));
    return bytes_read() - before;
  };
  EXPECT_GE(read_by(""), size);
  EXPECT_GE(read_by(cache), size) << "nobody has checked the file yet";
  EXPECT_LT(read_by(cache), size / 8);
  EXPECT_GE(read_by(""), size) << "without a cache, nothing is remembered";

  std::fstream change(file, std::ios::binary | std::ios::in | std::ios::out);
  change.seekp(-6, std::ios::end);  // a byte of the checksum
  change.put('\x01');
  change.close();
  for (int turn = 0; turn < 2; ++turn)
    expect_error(MK_BAD_DATA, {"damaged gzip stream"}, [&] { read_idx(file, "", 2, cache); });
}

TEST_F(Idx, RefusesAPathThatIsNotAFile) {
  expect_error(MK_BAD_DATA, {"none", "cannot be opened", "No such file"}, [&] { read_idx(path("none"), "", 0); });
  expect_error(MK_BAD_DATA, {directory_, "not a regular file"}, [&] { read_idx(directory_, "", 0); });
}

}  // namespace
}  // namespace mokume::data
