// Defines the styles of plots: palette.css holds the colours and plot.css the rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mokume::report {

// Return the style sheets that every page includes. The page's own rules may use the palette's colours.
std::string_view palette_css();
std::string_view plot_css();

// Returns the rules for a plot outside a page. Viewers other than browsers support neither variables nor the dark
// theme, so the light colours are literals, and a media query holds the dark colours.
const std::string& standalone_css();

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
  std::string hex() const;
  bool light() const;  // true if text on it must be dark
};

// Returns a colour between dark purple (t = 0) and light yellow (t = 1), via blue and green. Lightness rises evenly, so
// the order stays visible in grey scale and with every kind of colour blindness.
Colour colour_scale(double t);

}  // namespace mokume::report
