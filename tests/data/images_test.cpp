// Tests the source "images": pictures in folders.
#include <sys/stat.h>

#include <filesystem>

#include "data/images/image_files.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"
#include "pictures.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using ClassNames = std::vector<std::string>;
using Values = std::vector<float>;
using ClassIndices = std::vector<int32_t>;

std::string grey_png(uint32_t width, uint32_t height, int value) { return Canvas(width, height, value).png_file(); }

std::string colour_png(uint32_t width, uint32_t height, const std::string& rgb) {
  std::string rows;
  for (uint32_t i = 0; i < width * height; ++i) rows += rgb;
  return png(width, height, kPngRgb, rows);
}

class Images : public DataTest {
 protected:
  // Writes three classes with 3, 2 and 1 grey pictures of one pixel.
  void write_grey() const {
    for (const auto& [name, value] : std::vector<std::pair<std::string, int>>{{"cat/b.PNG", 2},
                                                                              {"cat/a.png", 1},
                                                                              {"cat/c.png", 3},
                                                                              {"dog/10.png", 11},
                                                                              {"dog/9.png", 12},
                                                                              {"ant/z.png", 21}})
      write("set/" + name, grey_png(1, 1, value));
  }
  void refused(const std::vector<std::string>& words, const DataSpec& s) const {
    expect_error(MK_BAD_DATA, words, [&] { load(s); });
  }
  DataSpec set() const { return spec("images", path("set")); }
};

TEST_F(Images, AFolderIsAClassAndRowsAlternateBetweenClasses) {
  write_grey();
  const Dataset data = load(set());
  EXPECT_EQ(data.name, "set");
  EXPECT_EQ(data.class_names, (ClassNames{"ant", "cat", "dog"}));
  EXPECT_EQ(data.train.x, (Values{21, 1, 11, 2, 12, 3}));
  EXPECT_EQ(data.train.labels, (ClassIndices{0, 1, 2, 1, 2, 1}));
  EXPECT_EQ(data.shape, (Shape{1, 1, 1}));
  EXPECT_EQ(data.test.rows, 0);
  EXPECT_EQ(data.notes, ClassNames{"6 training pictures of 1 x 1 pixels in grey"});
}

TEST_F(Images, ALimitTakesTheFirstOfEachClassAndKeepsTheClasses) {
  write_grey();
  DataSpec s = set();
  s.limit = 4;
  EXPECT_EQ(load(s).train.x, (Values{21, 1, 11, 2}));
  s.limit = 2;
  const Dataset data = load(s);
  EXPECT_EQ(data.train.x, (Values{21, 1}));
  EXPECT_EQ(data.class_names.size(), 3U);
}

TEST_F(Images, ClassesThatAreNumbersAreSortedByValue) {
  for (const char* name : {"10", "9", "-1"}) write(std::string("set/") + name + "/a.png", grey_png(1, 1, 5));
  EXPECT_EQ(load(set()).class_names, (ClassNames{"-1", "9", "10"}));
  write("set/09/a.png", grey_png(1, 1, 5));
  EXPECT_EQ(load(set()).class_names, (ClassNames{"-1", "09", "10", "9"})) << "a folder keeps its name";
}

TEST_F(Images, TrainAndTestAreFoldersInsideOrNamed) {
  for (const char* part : {"train/", "test/"})
    for (const char* name : {"cat", "dog"})
      write(std::string("set/") + part + name + "/a.png", grey_png(1, 2, part[1] == 'e' ? 7 : 8));
  write("set/val/cat/a.png", "never read");
  const Dataset data = load(set());
  EXPECT_EQ(data.train.x, Values(4, 8.0F));
  EXPECT_EQ(data.test.x, Values(4, 7.0F));
  EXPECT_EQ(data.test.labels, (ClassIndices{0, 1}));
  EXPECT_NE(data.notes.at(0).find("the folder 'val' is not used"), std::string::npos);
  const DataSpec named = spec("images", path("set/train"), path("set/test"));
  EXPECT_EQ(load(named).sha256, data.sha256);
  EXPECT_EQ(load(spec("images", path("set/test"))).test.rows, 0);

  write("set/test/dog/b.png", grey_png(2, 2, 1));
  refused({"set/test/dog/b.png' is 2 x 2 pixels, but the training pictures are 1 x 2", "data.size"}, set());
  write("set/test/emu/a.png", grey_png(1, 2, 1));
  refused({"set/test/emu' is a class without training pictures in", "set/train'"}, set());
}

TEST_F(Images, AClassMayBeCalledTrain) {
  for (const char* name : {"train", "test", "tram"}) write(std::string("set/") + name + "/a.png", grey_png(1, 1, 5));
  EXPECT_EQ(load(set()).class_names, (ClassNames{"test", "train", "tram"}));
}

TEST_F(Images, OneColouredPixelMakesAllRowsColour) {
  write("set/a/1.png", grey_png(1, 1, 9));
  write("set/b/1.png", colour_png(1, 1, "\x20\x20\x20"));
  EXPECT_EQ(load(set()).train.x, (Values{9, 32})) << "stored as colour, but grey";
  write("set/b/2.png", colour_png(1, 1, "\x20\x20\x21"));
  const Dataset colour = load(set());
  EXPECT_EQ(colour.shape, (Shape{1, 1, 3}));
  EXPECT_EQ(colour.train.x, (Values{9, 9, 9, 32, 32, 32, 32, 32, 33}));
  DataSpec s = set();
  s.channels = 1;
  EXPECT_EQ(load(s).train.x, (Values{9, 32, 32}));
  s.channels = 3;
  s.limit = 2;
  EXPECT_EQ(load(s).train.x, (Values{9, 9, 9, 32, 32, 32}));
}

TEST_F(Images, DifferentSizesNeedTheKeySize) {
  write("set/a/1.png", grey_png(4, 6, 10));
  write("set/a/2.png", grey_png(4, 6, 10));
  Canvas wide(8, 4, 50);
  wide.fill(2, 0, 2, 4, 100);
  write("set/b/1.png", wide.png_file());
  refused({"2 sizes, most of them 4 x 6", "size = 4"}, set());
  DataSpec s = set();
  s.size = 2;
  const Dataset data = load(s);
  EXPECT_EQ(data.shape, (Shape{2, 2, 1}));
  EXPECT_EQ(data.train.x, (Values{10, 10, 10, 10, 100, 50, 100, 50, 10, 10, 10, 10})) << "the square in the middle";
  EXPECT_NE(data.notes.at(0).find("3 training pictures of 2 x 2 pixels in grey, 3 of them after"), std::string::npos);
}

TEST_F(Images, JpegFilesAreRead) {
  write("set/a/1.jpeg", jpeg(8, 8, 1, std::string(64, '\x40')));
  write("set/b/1.JPG", jpeg(8, 8, 3, std::string(192, '\x60')));
  const Dataset data = load(set());
  EXPECT_EQ(data.shape, (Shape{8, 8, 1}));
  EXPECT_EQ(data.train.x[0], 64);
  EXPECT_EQ(data.train.x[64], 96);
}

TEST_F(Images, FilesThatAreNotPicturesAreCounted) {
  write_grey();
  write("set/README.txt", "x");
  write("set/cat/.hidden.png", "x");
  write("set/cat/labels.csv", "x");
  write("set/dog/more/x.png", "x");
  const ImageFolder folder = list_classes(path("set"));
  ASSERT_EQ(folder.notes.size(), 2U);
  EXPECT_NE(folder.notes[0].find("2 files not named .png, .jpg or .jpeg are left out, such as 'README.txt'"),
            std::string::npos)
      << folder.notes[0];
  EXPECT_NE(folder.notes[1].find("1 folder inside the folders is not searched, such as 'dog/more'"), std::string::npos)
      << folder.notes[1];
  EXPECT_EQ(folder.files.size(), 6U);
}

TEST_F(Images, BadFoldersAreNamedInOneSentence) {
  std::filesystem::create_directories(path("set"));
  refused({"set' holds no folders; put the pictures of each class into a folder"}, set());
  write("set/a.png", grey_png(1, 1, 1));
  refused({"holds no folders"}, set());
  write("set/cat/a.png", grey_png(1, 1, 1));
  refused({"holds one folder, 'cat'; a classifier needs two classes"}, set());
  std::filesystem::create_directories(path("set/dog"));
  refused({"set/dog' holds no .png, .jpg or .jpeg files"}, set());
  const std::string whole = grey_png(9, 9, 1);
  write("set/dog/cut.png", whole.substr(0, whole.size() / 2));
  refused({"set/dog/cut.png' is a damaged or truncated PNG file"}, set());
  write("set/dog/cut.png", "hello");
  refused({"set/dog/cut.png' is neither a PNG nor a JPEG file"}, set());
  std::filesystem::remove_all(path("set/dog"));
  write("set/\x1b[31m/a.png", whole);
  refused({"a folder whose name '?[31m' is not printable UTF-8; rename it"}, set());
  refused({"gone' cannot be read: No such file or directory"}, spec("images", path("gone")));
  refused({"cannot be read: Not a directory"}, spec("images", write("file", "x")));
}

TEST_F(Images, OddFilesDoNotHangOrConsumeMemory) {
  write("set/a/1.png", grey_png(1, 1, 1));
  write("set/b/1.png", png(60'000, 60'000, kPngGrey, std::string(60'000, 'x')));
  refused({"set/b/1.png' has 60000 x 60000 pixels, more than the 100 million"}, set());
  std::filesystem::remove(path("set/b/1.png"));
  ASSERT_EQ(mkfifo(path("set/b/1.png").c_str(), 0600), 0);
  refused({"set/b/1.png' is not a regular file"}, set());
  std::filesystem::remove(path("set/b/1.png"));
  std::filesystem::create_symlink("nowhere", path("set/b/1.png"));
  refused({"set/b/1.png' cannot be read: No such file"}, set());
  std::filesystem::remove(path("set/b/1.png"));
  write("set/b/\x1b]0;x\x07.png", "text");
  refused({"set/b/?]0;x?.png' is neither"}, set());
}

TEST_F(Images, RowsToPredictTakeTheShapeOfTheModel) {
  write_grey();
  const Shape two{2, 1, 3};
  const Dataset known = load_for_prediction(set(), {{"cat", "dog"}, {}, {}, 6, {}, two});
  EXPECT_EQ(known.train.rows, 6);
  EXPECT_EQ(known.train.labels, (ClassIndices{-1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(Values(known.train.x.begin(), known.train.x.begin() + 6), Values(6, 21.0F));
  const Dataset plain =
      load_for_prediction(spec("images", path("set/cat")), {{"cat", "dog"}, {}, {}, 1, {}, {1, 1, 1}});
  EXPECT_EQ(plain.train.x, (Values{1, 2, 3}));
  EXPECT_TRUE(plain.train.labels.empty());
  expect_error(MK_BAD_DATA, {"no folders train and test"},
               [&] { load_for_prediction(spec("images", path("set"), kOwnTest), {}); });
  expect_error(MK_BAD_DATA, {"holds no .png"}, [&] {
    std::filesystem::create_directories(path("empty"));
    load_for_prediction(spec("images", path("empty")), {});
  });
}

TEST_F(Images, TheKeysBelongToTheSource) {
  const DataSpec s = parse_spec("images:pets,size=32,channels=3,limit=9");
  EXPECT_EQ(s.size, 32);
  EXPECT_EQ(s.channels, 3);
  EXPECT_EQ(parse_spec("images:new", &s).size, 32);
  expect_error(MK_INVALID_ARGUMENT, {"for source images only"}, [] { parse_spec("digits,size=32"); });
  expect_error(MK_INVALID_ARGUMENT, {"1 (grey) or 3"}, [] { parse_spec("images:a,channels=2"); });
  expect_error(MK_INVALID_ARGUMENT, {"between 1 and 2048"}, [] { parse_spec("images:a,size=4096"); });
  expect_error(MK_INVALID_ARGUMENT, {"size=N"}, [] { parse_spec("images:a,size=big"); });
  expect_error(MK_INVALID_ARGUMENT, {"needs data.path"}, [] { parse_spec("images"); });
}

}  // namespace
}  // namespace mokume::data
