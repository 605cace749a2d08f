// The members' certainty of one row as SVG: one line per class with a box plot over all members.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/view.hpp"

namespace mokume::report {

// Returns a reduced copy of a picture of width * height grey values: each pixel is the mean of a square of source
// pixels, as small as kThumbnailSide requires.
Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey);

// Returns a complete SVG file for light and dark themes, with `title` above the plot and the picture to the right of
// it. Of more than 40 classes, only those with the highest mean certainty are shown.
std::string certainty_svg(const Certainty& certainty, std::string_view title, const Thumbnail& picture = {});

}  // namespace mokume::report
