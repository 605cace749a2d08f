#include "report/charts/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/tables/format.hpp"

namespace mokume::report {
namespace {

// Literal colours rather than variables: viewers that are no browsers know only these.
constexpr std::string_view kStyle = R"(
.mk{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif;font-size:11px;font-variant-numeric:tabular-nums}
.mk .bg{fill:#fff}
.mk text{fill:#56606f}
.mk .head{font-size:13px;font-weight:600;fill:#171c26}
.mk .strong{fill:#171c26}
.mk .small{font-size:9px}
.mk .mid{text-anchor:middle}
.mk .end{text-anchor:end}
.mk .onlight{fill:#131a26}
.mk .ondark{fill:#fff}
.mk .grid{stroke:#e9ecf0;fill:none}
.mk .axis{stroke:#aab2be;fill:none}
.mk .box rect{fill:#cfdff0;stroke:#3a6ea5}
.mk .box line{stroke:#3a6ea5}
.mk .box .median{stroke:#1c4673;stroke-width:1.6}
.mk .box circle{fill:#1c4673;fill-opacity:.55}
.mk .top rect{fill:#fbd7b0;stroke:#b75a08}
.mk .top line{stroke:#b75a08}
.mk .top .median{stroke:#8a3f00;stroke-width:1.6}
.mk .top circle{fill:#8a3f00;fill-opacity:.6}
.mk .part rect{fill:none;stroke-dasharray:2 2}
.mk .star{fill:#b75a08}
.mk .cross{stroke:#c0322b;stroke-width:1.5;fill:none}
.mk .blank{fill:#f2f4f7}
.mk .ring{fill:none;stroke:#fff;stroke-width:4}
.mk .core{fill:none;stroke:#d9480f;stroke-width:2}
.mk .track{fill:#f0f2f5}
.mk .bar{fill:#3a6ea5}
.mk .alt{fill:#7ba3cc}
.mk .bad{fill:#c0322b}
.mk .gap{stroke:#aab2be;stroke-dasharray:2 3;fill:none}
.mk .curve path,.mk .curve line{fill:none;stroke-width:1.2;stroke-linejoin:round}
.mk .curve .dash{stroke-dasharray:4 2.5}
.mk .curve .dots{stroke-dasharray:1.2 2}
.mk .k0 path,.mk .k0 line{stroke:#3072c1}
.mk .k0 circle{fill:#3072c1}
.mk .k1 path,.mk .k1 line{stroke:#1a7426}
.mk .k1 circle{fill:#1a7426}
.mk .k2 path,.mk .k2 line{stroke:#ab4a7d}
.mk .k2 circle{fill:#ab4a7d}
.mk .k3 path,.mk .k3 line{stroke:#00767f}
.mk .k3 circle{fill:#00767f}
.mk .k4 path,.mk .k4 line{stroke:#7f7400}
.mk .k4 circle{fill:#7f7400}
.mk .k5 path,.mk .k5 line{stroke:#6e49a3}
.mk .k5 circle{fill:#6e49a3}
.mk .k6 path,.mk .k6 line{stroke:#b54a46}
.mk .k6 circle{fill:#b54a46}
.mk .k7 path,.mk .k7 line{stroke:#007854}
.mk .k7 circle{fill:#007854}
.mk .k8 path,.mk .k8 line{stroke:#5b67c2}
.mk .k8 circle{fill:#5b67c2}
.mk .k9 path,.mk .k9 line{stroke:#845700}
.mk .k9 circle{fill:#845700}
.mk .k10 path,.mk .k10 line{stroke:#99519e}
.mk .k10 circle{fill:#99519e}
.mk .k11 path,.mk .k11 line{stroke:#006d9e}
.mk .k11 circle{fill:#006d9e}
.mk .curve .cross{stroke:#c0322b;stroke-width:1.5}
.mk .pale path{stroke:#c3ccd7;stroke-width:.8}
.mk .pale circle{fill:#c3ccd7}
.mk .refit path,.mk .refit line{stroke:#b75a08;stroke-width:2.6}
.mk .refit circle{fill:#b75a08}
@media (prefers-color-scheme:dark){
.mk .bg{fill:#161b22}
.mk text{fill:#9aa5b4}
.mk .head,.mk .strong{fill:#e8ecf2}
.mk .onlight{fill:#131a26}
.mk .ondark{fill:#fff}
.mk .grid{stroke:#262d37}
.mk .axis{stroke:#4b5563}
.mk .box rect{fill:#23405f;stroke:#7fb2e5}
.mk .box line{stroke:#7fb2e5}
.mk .box .median{stroke:#cfe4fa}
.mk .box circle{fill:#cfe4fa}
.mk .top rect{fill:#5c3510;stroke:#f0a04b}
.mk .top line{stroke:#f0a04b}
.mk .top .median{stroke:#ffe0b8}
.mk .top circle{fill:#ffe0b8}
.mk .part rect{fill:none}
.mk .star{fill:#f0a04b}
.mk .cross{stroke:#ff7b72}
.mk .blank{fill:#1f2630}
.mk .track{fill:#1f2630}
.mk .bar{fill:#5b97d3}
.mk .alt{fill:#3a6796}
.mk .bad{fill:#ff7b72}
.mk .gap{stroke:#4b5563}
.mk .k0 path,.mk .k0 line{stroke:#87bafd}
.mk .k0 circle{fill:#87bafd}
.mk .k1 path,.mk .k1 line{stroke:#6db36f}
.mk .k1 circle{fill:#6db36f}
.mk .k2 path,.mk .k2 line{stroke:#f197c2}
.mk .k2 circle{fill:#f197c2}
.mk .k3 path,.mk .k3 line{stroke:#00b5bc}
.mk .k3 circle{fill:#00b5bc}
.mk .k4 path,.mk .k4 line{stroke:#c3bc5a}
.mk .k4 circle{fill:#c3bc5a}
.mk .k5 path,.mk .k5 line{stroke:#ab8ddf}
.mk .k5 circle{fill:#ab8ddf}
.mk .k6 path,.mk .k6 line{stroke:#fb9890}
.mk .k6 circle{fill:#fb9890}
.mk .k7 path,.mk .k7 line{stroke:#3cb794}
.mk .k7 circle{fill:#3cb794}
.mk .k8 path,.mk .k8 line{stroke:#a3b2fe}
.mk .k8 circle{fill:#a3b2fe}
.mk .k9 path,.mk .k9 line{stroke:#c1993a}
.mk .k9 circle{fill:#c1993a}
.mk .k10 path,.mk .k10 line{stroke:#de9ce2}
.mk .k10 circle{fill:#de9ce2}
.mk .k11 path,.mk .k11 line{stroke:#37add9}
.mk .k11 circle{fill:#37add9}
.mk .curve .cross{stroke:#ff7b72}
.mk .pale path{stroke:#3b4552}
.mk .pale circle{fill:#3b4552}
.mk .refit path,.mk .refit line{stroke:#f0a04b}
.mk .refit circle{fill:#f0a04b}
}
)";

// Nine stops of equal steps in OKLab lightness (0.28 to 0.935), hue from 305 to 104 degrees, chroma within sRGB.
constexpr std::array<Colour, 9> kStops = {{{55, 16, 87},
                                           {64, 40, 128},
                                           {55, 74, 160},
                                           {1, 112, 177},
                                           {8, 146, 170},
                                           {12, 179, 165},
                                           {83, 208, 149},
                                           {176, 225, 124},
                                           {249, 238, 120}}};

std::string title_element(std::string_view title) {
  return title.empty() ? std::string() : fmt::format("<title>{}</title>", escape(title));
}

// Ends an element: with a title inside, or at once.
std::string ended(std::string_view name, std::string_view title) {
  return title.empty() ? "/>\n" : fmt::format(">{}</{}>\n", title_element(title), name);
}

double step_of(double range, int wanted) {
  const double rough = range / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double head = rough / power;
  return power * (head <= 1 ? 1 : head <= 2 ? 2 : head <= 5 ? 5 : 10);
}

std::vector<Tick> linear_ticks(const Scale& scale, int wanted) {
  std::vector<Tick> result;
  const double step = step_of(scale.high - scale.low, wanted);
  const double first = std::ceil(scale.low / step - 1e-9);
  const double count = std::floor(scale.high / step + 1e-9) - first;
  if (!std::isfinite(first) || !(count >= 0) || count > 50) return result;
  for (int i = 0; i <= static_cast<int>(count); ++i) {
    const double value = (first + i) * step;
    result.push_back({value, pretty(std::abs(value) < 1e-9 * step ? 0 : value, 5), {}});
  }
  return result;
}

// 1, 2 and 5 times the powers of ten, for an axis of less than two decades.
std::vector<Tick> short_log_ticks(const Scale& scale, int low, int high) {
  std::vector<Tick> result;
  for (int e = low - 1; e <= high + 1; ++e) {
    for (const int head : {1, 2, 5}) {
      const double value = head * std::pow(10.0, e);
      if (value >= scale.low && value <= scale.high) result.push_back({value, pretty(value), {}});
    }
  }
  return result;
}

std::vector<Tick> log_ticks(const Scale& scale, int wanted) {
  const int low = static_cast<int>(std::ceil(std::log10(scale.low) - 1e-9));
  const int high = static_cast<int>(std::floor(std::log10(scale.high) + 1e-9));
  if (scale.high / scale.low < 100) {
    auto result = short_log_ticks(scale, low, high);
    return result.size() >= 3 ? result : linear_ticks(scale, wanted);
  }
  const int stride = (high - low) / std::max(1, wanted) + 1;
  const bool plain = low >= -3 && high <= 4;
  std::vector<Tick> result;
  for (int e = low - 1; e <= high; ++e) {
    const double power = std::pow(10.0, e);
    if (e >= low) {
      const bool labelled = (e - low) % stride == 0;
      if (!labelled)
        result.push_back({power, {}, {}});
      else if (plain)
        result.push_back({power, pretty(power), {}});
      else
        result.push_back({power, "10", fmt::format("{}", e)});
    }
    for (int head = 2; high - low <= 5 && head <= 9; ++head) {
      const double value = head * power;
      if (value >= scale.low && value <= scale.high) result.push_back({value, {}, {}});
    }
  }
  return result;
}

}  // namespace

std::string_view svg_style() { return kStyle; }

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, std::string_view label) {
  const std::string w = coordinate(width), h = coordinate(height);
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mk\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" aria-label=\"{2}\">\n<style>{3}</style>\n",
      w, h, escape(label), kStyle);
  rect(0, 0, width, height, "bg");
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view title,
               std::string_view fill, double radius) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", coordinate(x), coordinate(y),
                      coordinate(std::max(0.0, width)), coordinate(std::max(0.0, height)));
  if (radius > 0) out_ += fmt::format(" rx=\"{}\"", coordinate(radius));
  if (!classes.empty()) out_ += fmt::format(" class=\"{}\"", classes);
  if (!fill.empty()) out_ += fmt::format(" fill=\"{}\"", fill);
  out_ += ended("rect", title);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", coordinate(x1), coordinate(y1),
                      coordinate(x2), coordinate(y2), classes);
}

void Svg::circle(double x, double y, double radius, std::string_view classes) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", coordinate(x), coordinate(y), coordinate(radius));
  out_ += classes.empty() ? "/>\n" : fmt::format(" class=\"{}\"/>\n", classes);
}

void Svg::path(std::string_view commands, std::string_view classes) {
  out_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", commands, classes);
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, std::string_view exponent) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\"", coordinate(x), coordinate(y));
  if (!classes.empty()) out_ += fmt::format(" class=\"{}\"", classes);
  out_ += '>' + escape(text);
  if (!exponent.empty()) out_ += fmt::format("<tspan dy=\"-4\" font-size=\"8\">{}</tspan>", escape(exponent));
  out_ += "</text>\n";
}

void Svg::text_up(double x, double y, std::string_view text, std::string_view classes) {
  out_ += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" class=\"{}\">{}</text>\n", coordinate(x),
                      coordinate(y), classes, escape(text));
}

void Svg::open(std::string_view classes, std::string_view title) {
  out_ += fmt::format("<g class=\"{}\">{}\n", classes, title_element(title));
}

void Svg::close() { out_ += "</g>\n"; }

std::string Svg::finish() && { return std::move(out_) + "</svg>\n"; }

double text_width(std::string_view utf8, double size) {
  return 0.64 * size * static_cast<double>(count_characters(utf8));
}

std::string Colour::hex() const { return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue); }

bool Colour::light() const { return 299 * red + 587 * green + 114 * blue > 128000; }

Colour colour_scale(double t) {
  if (!(t > 0)) return kStops.front();
  if (t >= 1) return kStops.back();
  const double place = t * static_cast<double>(kStops.size() - 1);
  const size_t i = static_cast<size_t>(place);
  const double share = place - static_cast<double>(i);
  const auto mix = [&](uint8_t a, uint8_t b) { return static_cast<uint8_t>(std::lround(a + share * (b - a))); };
  const Colour &a = kStops[i], &b = kStops[i + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

double Scale::at(double value) const {
  const double share = log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

Scale make_scale(double low, double high, bool log, double margin, double from, double to) {
  Scale scale{log && low > 0 && std::isfinite(high / low), low, high, from, to};
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(high - low > 1e-9 * size)) {  // one value: room around it
    const double room = size > 0 ? 0.05 * size : 1;
    scale.low = low - room, scale.high = high + room;
    if (size < 1e-290) scale.low = low - 1, scale.high = high + 1, scale.log = false;
  }
  if (scale.log) {
    const double factor = std::pow(scale.high / scale.low, margin);
    scale.low /= factor, scale.high *= factor;
  } else {
    const double room = margin * (scale.high - scale.low);
    scale.low -= room, scale.high += room;
  }
  return scale;
}

std::vector<Tick> ticks(const Scale& scale, int wanted) {
  return scale.log ? log_ticks(scale, wanted) : linear_ticks(scale, wanted);
}

void bottom_axis(Svg& svg, const Scale& scale, double at, const std::vector<Tick>& ticks) {
  svg.line(scale.from, at, scale.to, at, "axis");
  double taken = -std::numeric_limits<double>::infinity();
  for (const Tick& tick : ticks) {
    const double x = scale.at(tick.value);
    svg.line(x, at, x, at + (tick.label.empty() ? 3 : 5), "axis");
    const double half = text_width(tick.label + tick.exponent) / 2;
    if (tick.label.empty() || x - half < taken + 4) continue;
    svg.text(x, at + 17, tick.label, "mid", tick.exponent);
    taken = x + half;
  }
}

void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks) {
  double taken = std::numeric_limits<double>::infinity();
  for (const Tick& tick : ticks) {
    const double y = scale.at(tick.value);
    const bool crowded = y > taken - 13;
    if (!tick.label.empty() && grid_to > at) svg.line(at, y, grid_to, y, "grid");
    if (tick.label.empty() || crowded) {
      svg.line(at - 3, y, at, y, "axis");
      continue;
    }
    svg.line(at - 5, y, at, y, "axis");
    svg.text(at - 8, y + 4, tick.label, "end", tick.exponent);
    taken = y;
  }
  svg.line(at, scale.from, at, scale.to, "axis");
}

}  // namespace mokume::report
