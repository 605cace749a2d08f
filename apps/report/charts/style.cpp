#include "report/charts/style.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "palette.embed.hpp"
#include "plot.embed.hpp"

namespace mokume::report {
namespace {

// Returns the value of a name in the palette: the first is for the light theme, the last for the dark theme.
std::string_view token_value(std::string_view name, bool dark) {
  const std::string key = fmt::format("--{}:", name);
  std::string_view rest = palette_css();
  rest.remove_prefix((dark ? rest.rfind(key) : rest.find(key)) + key.size());
  return rest.substr(0, rest.find(';'));
}

std::string with_literals(std::string_view css, bool dark) {
  constexpr std::string_view kVariable = "var(--";
  std::string text;
  for (size_t at = css.find(kVariable); at != std::string_view::npos; at = css.find(kVariable)) {
    text += css.substr(0, at);
    css.remove_prefix(at + kVariable.size());
    const size_t end = css.find(')');
    text += token_value(css.substr(0, end), dark);
    css.remove_prefix(end + 1);
  }
  return text += css;
}

// Returns nine stops in equal steps of OKLab lightness (0.28 to 0.935), hue from 305 to 104 degrees, chroma within
// sRGB.
std::vector<Colour> scale_stops() {
  std::vector<Colour> stops;
  for (const std::string& stop : base::split(token_value("scale", false), ' ')) {
    const auto code = static_cast<uint32_t>(std::stoul(stop.substr(1), nullptr, 16));
    stops.push_back({static_cast<uint8_t>(code >> 16), static_cast<uint8_t>(code >> 8), static_cast<uint8_t>(code)});
  }
  return stops;
}

}  // namespace

std::string_view palette_css() { return kPalette; }
std::string_view plot_css() { return kPlot; }

const std::string& standalone_css() {
  static const std::string css = [] {
    std::string dark;
    for (const std::string& rule : base::split(plot_css(), '\n'))
      if (rule.find("var(") != std::string::npos) dark += with_literals(rule, true) + '\n';
    return fmt::format("\n{}@media (prefers-color-scheme:dark){{\n{}}}\n", with_literals(plot_css(), false), dark);
  }();
  return css;
}

std::string Colour::hex() const { return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue); }

bool Colour::light() const { return 299 * red + 587 * green + 114 * blue > 128000; }

Colour colour_scale(double t) {
  static const std::vector<Colour> stops = scale_stops();
  if (!(t > 0)) return stops.front();
  if (t >= 1) return stops.back();
  const double at = t * (stops.size() - 1);
  const size_t i = static_cast<size_t>(at);
  const double share = at - i;
  const auto mix = [&](uint8_t a, uint8_t b) { return static_cast<uint8_t>(std::lround(a + share * (b - a))); };
  const Colour &a = stops[i], &b = stops[i + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

}  // namespace mokume::report
