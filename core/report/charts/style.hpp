// The looks of plots: palette.css holds the colours and plot.css the rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mokume::report {

// For a page, which may have rules of its own that name the palette's colours.
std::string_view palette_css();
std::string_view plot_css();

// The rules for a plot outside of a page. Viewers that are no browsers know neither variables nor the dark theme: the
// colours of the light one are literals, and a media query holds those of the dark one.
const std::string& standalone_css();

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
  std::string hex() const;
  bool light() const;  // takes dark text
};

// From a dark purple over blue and green to a light yellow: lightness rises evenly, so the order survives grey scale
// and every kind of colour blindness. 0 <= t <= 1.
Colour colour_scale(double t);

}  // namespace mokume::report
