// Tests training on pictures in folders: a convolution distinguishes colours, and then predicts.
#include <gtest/gtest.h>

#include "cli/shell.hpp"
#include "data/pictures.hpp"

namespace mokume::cli_test {
namespace {

// Returns noise whose strongest channel is the label. The average over the channels does not depend on the label.
std::string noise(size_t label, uint32_t seed, uint32_t width = 32, uint32_t height = 32) {
  std::string rows;
  for (uint32_t i = 0; i < width * height * 3; ++i) {
    seed = seed * 1664525 + 1013904223;
    rows += static_cast<char>((seed >> 26) + (i % 3 == label ? 160 : 40));
  }
  return data::png(width, height, data::kPngRgb, rows);
}

void write_pictures(const Place& place) {
  const std::vector<std::string> classes = {"red", "green", "blue"};
  for (const std::string part : {"train", "test"})
    for (size_t label = 0; label < classes.size(); ++label) {
      const std::string folder = "pictures/" + part + "/" + classes[label];
      fs::create_directories(place.path() / folder);
      for (uint32_t i = 0; i < 12; ++i)
        place.write(folder + "/" + std::to_string(i) + ".png",
                    noise(label, static_cast<uint32_t>(label) + 7 * i + (part == "test" ? 1000 : 0)));
    }
}

std::string conv_experiment() {
  return R"(name = "colours"
model = "cnn"
seed = 1
validation.folds = 3
devices.use = "host"
[data]
source = "images"
path = "./pictures"
standardize = { mean = 127.5, scale = 73.61 }
[model_options]
epochs = 8
batch_size = 6
optimizer = { type = "adam", lr = 0.01 }
[[model_options.layers]]
type = "conv2d"
out_channels = 4
kernel_size = 4
stride = 4
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 3
)";
}

void expect_colours(const Place& place, const std::string& run) {
  const Ended rows = place.mokume("predict " + run + " --data images:./pictures,test=own --devices host");
  EXPECT_EQ(rows.code, 0) << rows.err;
  EXPECT_EQ(rows.out.substr(0, 20), "row,predicted,label,");
  EXPECT_NE(rows.err.find("errors: 0 of 36"), std::string::npos) << rows.err;

  // The program crops and scales pictures of other sizes, and accepts a folder that holds only pictures.
  fs::create_directories(place.path() / "new");
  place.write("new/a.png", noise(2, 5, 64, 48));
  place.write("new/b.png", noise(1, 6));
  const Ended loose = place.mokume("predict " + run + " --data images:./new --devices host");
  EXPECT_NE(loose.out.find("\n0,blue,"), std::string::npos) << loose.out << loose.err;
  EXPECT_NE(loose.out.find("\n1,green,"), std::string::npos) << loose.out << loose.err;
  const Ended one = place.mokume("predict " + run + " new/a.png --devices host");
  EXPECT_EQ(one.out.find("vote: blue\n"), 0U) << one.out << one.err;
  EXPECT_NE(one.err.find("a.png: 64 x 48 RGB; cropped to the middle 48 x 48, 32 x 32 by area\n"), std::string::npos)
      << one.err;
}

TEST(PicturesInFolders, TrainAConvolutionThatPredictsOtherPictures) {
  const Place place;
  write_pictures(place);
  place.write("e.toml", conv_experiment());
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(slurp(place.run("colours") / "run.json").find("\"channels\": 3"), std::string::npos);
  expect_colours(place, place.run("colours").string());
}

TEST(PicturesInFolders, AModelWithoutARecordOfItsInputPredictsThemToo) {
  const Place place;
  write_pictures(place);
  place.write("e.toml",
              "name = \"svm\"\nmodel = \"svc\"\nvalidation.folds = 0\ndevices.use = \"host\"\n"
              "data = { source = \"images\", path = \"./pictures\", standardize = \"features\" }\n"
              "model_options = { C = 10, gamma = 0.0003 }\n");
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  expect_colours(place, place.run("svm").string());
}

TEST(PicturesInFolders, GreyPicturesArePredictedAsTheyWereTrained) {
  const Place place;
  for (const auto& [name, value] : {std::pair("dark", 30), std::pair("light", 220)}) {
    fs::create_directories(place.path() / "pictures" / name);
    for (int i = 0; i < 6; ++i)
      place.write(std::string("pictures/") + name + "/" + std::to_string(i) + ".png",
                  data::Canvas(8, 8, value + 4 * i).png_file());
  }
  place.write("e.toml",
              "name = \"svm\"\nmodel = \"svc\"\nvalidation.folds = 0\ndevices.use = \"host\"\n"
              "data = { source = \"images\", path = \"./pictures\", standardize = { mean = 127.5, scale = 73.61 } }\n"
              "model_options = { C = 10, gamma = 0.01 }\n");
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  // The program would invert and crop a drawing, but not these pictures.
  for (const auto& [name, value] : {std::pair("dark", 10), std::pair("light", 250)}) {
    place.write("a.png", data::Canvas(16, 16, value).png_file());
    const Ended one = place.mokume("predict " + place.run("svm").string() + " a.png --devices host");
    EXPECT_EQ(one.out.find(std::string("vote: ") + name + "\n"), 0U) << one.out << one.err;
    EXPECT_NE(one.err.find("a.png: 16 x 16 grey; 8 x 8 by area\n"), std::string::npos) << one.err;
  }
}

TEST(PicturesInFolders, InfoCountsThePicturesOfEachClass) {
  const Place place;
  write_pictures(place);
  const Ended info = place.mokume("data info images:./pictures");
  EXPECT_EQ(info.code, 0) << info.err;
  for (const char* line : {"36 training rows, 36 test rows, 3072 features, 3 classes", "\n  blue         12\n",
                           "36 test pictures of 32 x 32 pixels in colour"})
    EXPECT_NE(info.out.find(line), std::string::npos) << line << info.out;
  place.write("pictures/test/red/0.png", "not a picture");
  const Ended bad = place.mokume("data info images:./pictures");
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.err.find("pictures/test/red/0.png' is neither a PNG nor a JPEG file"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace mokume::cli_test
