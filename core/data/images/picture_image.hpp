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
  std::string how;            // e.g. "photo.jpg: 640 x 480 RGB; grey by luminance, inverted, ..., 28 x 28"
};

// Converts a picture to the shape of the model's rows, which has one or three channels. Throws
// Error(MK_INVALID_ARGUMENT) for other numbers of channels. For three channels, works like to_plain_image(). For one
// channel, takes the luminance (ITU-R BT.709: 0.2126 R + 0.7152 G + 0.0722 B of the stored values), light on dark as in
// MNIST: inverts the picture if its border (median) is brighter than the rest (mean). Uses a picture that has the
// model's size without further changes. Crops any other picture to the drawing, i.e. the values above Otsu's threshold
// (Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9(1), 1979); spreads its levels from
// ground to ink; scales it by area averaging to fit 20/28 of each side, keeping proportions; and places its centre of
// mass in the centre of the image (LeCun, Bottou, Bengio, Haffner, Gradient-based learning applied to document
// recognition, Proc. IEEE 86(11), 1998, section III.A). Scales the whole picture if it contains no drawing.
ModelImage to_model_image(const Picture& picture, const Shape& shape);

// Converts a picture to a row of a data set with source "images". Uses a picture of the right size unchanged.
// Otherwise, scales by area averaging the largest part in the middle that has the proportions of the shape. Converts
// colours to grey by luminance if the shape has one channel, and copies grey to all three channels of a colour image.
ModelImage to_plain_image(const Picture& picture, const Shape& shape);

// Renders the image in lines of at most `columns` characters from ' ' (0) to '@' (255). A character covers an area that
// is twice as tall as wide.
std::string preview(const std::vector<float>& values, const Shape& shape, int32_t columns = 56);

}  // namespace mokume::data
