// Converts a picture to an image that a model accepts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/images/picture.hpp"

namespace mokume::data {

struct ModelImage {
  std::vector<float> values;  // height x width x channels of the shape, 0 to 255, before any scaling
  std::string how;            // "photo.jpg: 640 x 480 RGB; grey by luminance, inverted, ..., 28 x 28"
};

// One channel: grey by luminance (ITU-R BT.709: 0.2126 R + 0.7152 G + 0.0722 B of the stored values), light on dark as
// in MNIST: the picture is inverted if its border (median) is brighter than the rest (mean). A picture that already has
// the model's size is used as it is. Any other is cropped to the drawing, which is what exceeds Otsu's threshold (Otsu,
// A threshold selection method from gray-level histograms, IEEE Trans. SMC 9(1), 1979); its levels are spread from
// ground to ink; it is scaled by area averaging to fit 20/28 of each side, keeping proportions; and it is placed so
// that its centre of mass is the centre of the image (LeCun, Bottou, Bengio, Haffner, Gradient-based learning applied
// to document recognition, Proc. IEEE 86(11), 1998, section III.A). If nothing is drawn, the whole picture is scaled.
// Three channels: as to_plain_image(). Error(MK_INVALID_ARGUMENT) for other numbers of channels.
ModelImage to_model_image(const Picture& picture, const Shape& shape);

// As a picture becomes a row of a data set of source "images": used unchanged if it has the size of the shape, else the
// largest part in its middle with the proportions of the shape is scaled by area averaging. Colours become grey by
// luminance if the shape has one channel; grey fills all three channels of a colour image.
ModelImage to_plain_image(const Picture& picture, const Shape& shape);

// Renders the image with characters from ' ' (0) to '@' (255), two of its rows per line, at most `columns` wide.
std::string preview(const std::vector<float>& values, const Shape& shape, int32_t columns = 56);

}  // namespace mokume::data
