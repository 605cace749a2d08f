// How a picture becomes an image that a model takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/picture.hpp"

namespace mokume::data {

struct ModelImage {
  std::vector<float> values;  // shape's height x width x channels, 0 to 255, before any scaling
  std::string how;            // "photo.jpg: 640 x 480 RGB; grey by luminance, inverted, ..., 28 x 28"
};

// One channel: grey by luminance (ITU-R BT.709: 0.2126 R + 0.7152 G + 0.0722 B of the stored values), light on dark as
// in MNIST: a picture whose border (its median) is brighter than the rest (its mean) is inverted. One that has the
// model's size already is taken so. Any other is cut to what is drawn on it, above Otsu's threshold (Otsu, A threshold
// selection method from gray-level histograms, IEEE Trans. SMC 9(1), 1979), its levels are spread from ground to ink,
// it is scaled by averages of areas to fit 20/28 of each side, proportions kept, and put so that its centre of mass is
// the image's (LeCun, Bottou, Bengio, Haffner, Gradient-based learning applied to document recognition, Proc. IEEE
// 86(11), 1998, section III.A). Where nothing is drawn the whole picture is scaled. Three channels: the middle of the
// picture in the image's proportions, scaled by averages of areas. Error(MK_INVALID_ARGUMENT) for other numbers of
// channels.
ModelImage to_model_image(const Picture& picture, const Shape& shape);

// The image in characters from ' ' (0) to '@' (255), two of its rows a line, at most `columns` wide.
std::string preview(const std::vector<float>& values, const Shape& shape, int32_t columns = 56);

}  // namespace mokume::data
