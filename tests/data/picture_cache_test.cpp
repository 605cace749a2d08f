// Tests that the cache keeps decoded pictures, and only for files that have not changed.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "data/load.hpp"
#include "pictures.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

namespace fs = std::filesystem;

class PictureCache : public DataTest {
 protected:
  PictureCache() {
    for (int i = 0; i < 24; ++i)
      write("set/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".png",
            Canvas(128, 128, 100 + i).png_file());
  }

  std::vector<float> values() const { return load(spec("images", path("set"))).train.x; }
  // Paints the first picture another grey. Its size and, if `keep_time`, its modification time stay the same.
  void repaint(bool keep_time) const {
    const fs::path file = path("set/cat/0.png");
    const auto time = fs::last_write_time(file);
    write("set/cat/0.png", Canvas(128, 128, 200).png_file());
    fs::last_write_time(file, keep_time ? time : time + std::chrono::seconds(1));
  }
  const Environment cache_{"XDG_CACHE_HOME", path("cache")};
  fs::path cached() const { return fs::directory_iterator(path("cache/mokume/pictures"))->path(); }
};

TEST_F(PictureCache, UnchangedFilesAreDecodedOnce) {
  const std::vector<float> first = values();
  const auto size = fs::file_size(path("set/cat/0.png"));
  repaint(true);
  ASSERT_EQ(fs::file_size(path("set/cat/0.png")), size) << "the cache must see no difference";
  EXPECT_EQ(values(), first) << "the cache was used";
  repaint(false);
  EXPECT_NE(values(), first) << "the file has changed";
}

// Every byte counts: the shape and the number of pictures as well as the values.
TEST_F(PictureCache, ADamagedFileIsSetAside) {
  const std::vector<float> first = values();
  const fs::path file = cached();
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  fs::resize_file(file, static_cast<uint64_t>(size / 2));
  EXPECT_EQ(values(), first);
  EXPECT_EQ(static_cast<std::streamoff>(fs::file_size(file)), size) << "it is written again";
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::streamoff at = 0; at < size; at += at < 200 ? 13 : size / 5) {
    fs::remove(file.string() + ".damaged");
    std::string flipped = whole;
    flipped[static_cast<size_t>(at)] = static_cast<char>(flipped[static_cast<size_t>(at)] ^ 4);
    std::ofstream(file, std::ios::binary) << flipped;
    const Dataset data = load(spec("images", path("set")));
    EXPECT_EQ(data.train.x, first) << at;
    const std::string said = data.notes.empty() ? "" : data.notes.front();
    EXPECT_EQ(said.find(file.string() + " is damaged ("), 0U) << at << ": " << said;
    EXPECT_TRUE(fs::exists(file.string() + ".damaged"));
  }
}

TEST_F(PictureCache, AnotherSizeIsAnotherEntry) {
  values();
  DataSpec smaller = spec("images", path("set"));
  smaller.size = 100;
  EXPECT_EQ(load(smaller).shape.height, 100);
  EXPECT_EQ(load(smaller).shape.height, 100);
}

}  // namespace
}  // namespace mokume::data
