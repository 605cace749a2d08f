// Tests the conversion of pictures to the images of a model.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/images/picture.hpp"
#include "data/images/picture_image.hpp"
#include "pictures.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

constexpr Shape kMnist{28, 28, 1};

Picture picture(const Canvas& canvas) {
  return {"a.png",
          "",
          static_cast<int32_t>(canvas.width),
          static_cast<int32_t>(canvas.height),
          1,
          {canvas.bytes.begin(), canvas.bytes.end()}};
}

// Returns 255 in the given rows and columns of 28 x 28, else 0.
std::vector<float> bar(size_t left, size_t top, size_t width, size_t height) {
  std::vector<float> values(784);
  for (size_t y = top; y < top + height; ++y)
    std::fill_n(values.begin() + static_cast<ptrdiff_t>(y * 28 + left), width, 255.0F);
  return values;
}

TEST(ModelImage, APictureOfTheModelsSizeIsUnchanged) {
  Canvas canvas(28, 28, 0);
  canvas.fill(3, 4, 5, 6, 200);
  const ModelImage light = to_model_image(picture(canvas), kMnist);
  for (size_t i = 0; i < 784; ++i)
    EXPECT_EQ(light.values[i], static_cast<float>(static_cast<unsigned char>(canvas.bytes[i])));
  EXPECT_EQ(light.how, "a.png: 28 x 28 grey; used unchanged");
  for (char& c : canvas.bytes) c = static_cast<char>(~c);
  const ModelImage dark = to_model_image(picture(canvas), kMnist);
  EXPECT_EQ(dark.values, light.values);
  EXPECT_EQ(dark.how, "a.png: 28 x 28 grey; inverted, used unchanged");
}

TEST(ModelImage, ADrawingIsCroppedScaledAndCentred) {
  Canvas canvas(300, 400, 255);
  canvas.fill(30, 50, 40, 200, 0);
  const ModelImage image = to_model_image(picture(canvas), kMnist);
  EXPECT_EQ(
      image.how,
      "a.png: 300 x 400 grey; inverted, cropped to 40 x 200 at (30, 50), 4 x 20 by area, centred by mass in 28 x 28");
  EXPECT_EQ(image.values, bar(12, 4, 4, 20));
  Canvas light(300, 400, 0);
  light.fill(230, 150, 40, 200, 255);
  EXPECT_EQ(to_model_image(picture(light), kMnist).values, bar(12, 4, 4, 20));
}

TEST(ModelImage, InkOnGreyPaperBecomesWhiteOnBlack) {
  Canvas canvas(300, 400, 180);
  canvas.fill(30, 50, 200, 40, 60);
  const ModelImage image = to_model_image(picture(canvas), kMnist);
  EXPECT_NE(image.how.find("levels 75 to 195 spread to 0 to 255"), std::string::npos) << image.how;
  EXPECT_EQ(image.values, bar(4, 12, 20, 4));
}

TEST(ModelImage, InkThatTouchesTheBorderIsKept) {
  Canvas canvas(200, 200, 255);
  canvas.fill(0, 0, 40, 200, 0);
  EXPECT_EQ(to_model_image(picture(canvas), kMnist).values, bar(12, 4, 4, 20));
}

TEST(ModelImage, TheCentreOfMassIsInTheMiddle) {
  Canvas canvas(400, 400, 255);
  canvas.fill(100, 100, 40, 200, 0);  // an L, whose mass is left of and below the middle of its box
  canvas.fill(100, 260, 140, 40, 0);
  const std::vector<float> values = to_model_image(picture(canvas), kMnist).values;
  double mass = 0, x = 0, y = 0;
  for (size_t i = 0; i < 784; ++i) {
    mass += static_cast<double>(values[i]);
    x += static_cast<double>(values[i]) * (static_cast<double>(i % 28) + 0.5);
    y += static_cast<double>(values[i]) * (static_cast<double>(i / 28) + 0.5);
  }
  EXPECT_NEAR(x / mass, 14, 0.51);
  EXPECT_NEAR(y / mass, 14, 0.51);
}

TEST(ModelImage, ABlankPageIsScaledWhole) {
  for (const int level : {0, 90, 255}) {
    Canvas canvas(50, 60, level);
    canvas.fill(20, 20, 5, 5, level > 200 ? level - 9 : level + 9);  // dust
    const ModelImage image = to_model_image(picture(canvas), kMnist);
    EXPECT_NE(image.how.find("nothing is drawn on it, whole picture scaled to 28 x 28"), std::string::npos)
        << image.how;
    EXPECT_NEAR(image.values[0], level == 255 ? 0 : level, 0.5);
  }
}

TEST(ModelImage, GreyIsLuminance) {
  Picture colours{"a.png", "turned upright", 2, 2, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 10, 10}};
  const ModelImage image = to_model_image(colours, {2, 2, 1});
  EXPECT_EQ(image.values, (std::vector<float>{54, 182, 18, 10}));
  EXPECT_EQ(image.how, "a.png: 2 x 2 RGB; turned upright, grey by luminance, used unchanged");
}

TEST(ModelImage, ColourImagesGetTheMiddleOfThePicture) {
  Picture wide{"a.png", "", 60, 20, 3, {}};
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 60; ++x)
      for (int c = 0; c < 3; ++c)
        wide.pixels.push_back(x < 20 || x >= 40 ? 9 : c == 0 ? static_cast<uint8_t>((x + y) % 2 * 255) : 50);
  const ModelImage image = to_model_image(wide, {10, 10, 3});
  ASSERT_EQ(image.values.size(), 300U);
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(image.values[i], i % 3 == 0 ? 128 : 50) << "2 x 2 pixels are averaged";
  EXPECT_EQ(image.how, "a.png: 60 x 20 RGB; cropped to the middle 20 x 20, 10 x 10 by area");
  const ModelImage grey = to_model_image(picture(Canvas(5, 9, 77)), {3, 3, 3});
  EXPECT_EQ(grey.values, std::vector<float>(27, 77.0F));
  expect_error(MK_INVALID_ARGUMENT, {"5 channels", "--data"}, [&] { to_model_image(wide, {4, 4, 5}); });
}

TEST(ModelImage, AnyPictureGivesTheShapeOfTheModel) {
  for (const auto& [w, h] : std::vector<std::pair<uint32_t, uint32_t>>{{1, 1}, {1, 5000}, {5000, 1}, {2, 3}, {27, 29}})
    for (const Shape& shape : {kMnist, Shape{28, 14, 1}, Shape{1, 9, 1}, Shape{32, 24, 3}}) {
      Canvas canvas(w, h, 250);
      canvas.fill(0, 0, (w + 1) / 2, (h + 1) / 2, 3);
      const ModelImage image = to_model_image(picture(canvas), shape);
      EXPECT_EQ(image.values.size(), static_cast<size_t>(shape.width * shape.height * shape.channels));
      EXPECT_TRUE(std::all_of(image.values.begin(), image.values.end(), [](float v) { return v >= 0 && v <= 255; }));
    }
}

TEST(Preview, ShowsLightAndDarkWithTwoRowsPerLine) {
  const std::string text = preview(bar(12, 4, 4, 20), kMnist);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 14);
  EXPECT_EQ(text.substr(0, 2), "\n\n") << "no blanks at the end of a line";
  EXPECT_EQ(text.substr(2, 17), std::string(12, ' ') + "@@@@\n");
  const std::string large = preview(std::vector<float>(224 * 224 * 3, 255.0F), {224, 224, 3});
  EXPECT_EQ(large.find('\n'), 56U);
}

}  // namespace
}  // namespace mokume::data
