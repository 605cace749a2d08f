// The members' certainty of one row as SVG: a line per class with the box of all members.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/view.hpp"

namespace mokume::report {

// A small copy of a picture of width * height grey values: means of squares of its pixels, as large as kThumbnailSide
// allows.
Thumbnail thumbnail(size_t width, size_t height, std::span<const double> grey);

// A complete SVG file for light and dark, with `title` above the plot and the picture to the right of it. Where there
// are more than 40 classes, those with the highest mean certainty.
std::string certainty_svg(const Certainty& certainty, std::string_view title, const Thumbnail& picture = {});

}  // namespace mokume::report
