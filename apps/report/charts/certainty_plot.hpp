// Draws how certain the members are of one row: one line per class, with a box plot over all members.
#pragma once

#include <string>
#include <string_view>

#include "results/view.hpp"

namespace mokume::report {

// Returns a complete SVG file for light and dark themes, with `title` above the plot and the picture to the right of
// it. Shows at most 40 classes, those with the highest mean certainty.
std::string certainty_svg(const results::Certainty& certainty, std::string_view title,
                          const results::Thumbnail& picture = {});

}  // namespace mokume::report
