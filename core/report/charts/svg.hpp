// A small writer of deterministic SVG: fixed-precision coordinates, no locale, no time, no ids. Colours come from the
// classes of svg_style(), which carries a dark variant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::report {

// The rules between <style> and </style> of every plot; a page that holds several plots needs them once.
std::string_view svg_style();

// A coordinate: two decimals at most, no "-0"; what is not finite becomes 0.
std::string coordinate(double value);

class Svg {
 public:
  // `label` describes the whole picture to a screen reader. Sizes in px.
  Svg(double width, double height, std::string_view label);

  // `title` is shown while the pointer rests on the shape. `fill` is a colour like "#0a1b2c", else the class decides.
  void rect(double x, double y, double width, double height, std::string_view classes, std::string_view title = {},
            std::string_view fill = {}, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void circle(double x, double y, double radius, std::string_view classes);
  void path(std::string_view commands, std::string_view classes);
  // `exponent` is set raised behind the text. Anchors are classes: "start" (default), "mid", "end".
  void text(double x, double y, std::string_view text, std::string_view classes, std::string_view exponent = {});
  void text_up(double x, double y, std::string_view text, std::string_view classes);  // reads from bottom to top

  void open(std::string_view classes, std::string_view title = {});  // a group; close() ends it
  void close();

  std::string finish() &&;

 private:
  std::string out_;
};

// Width of a text in px, from above, at a size in px: enough to keep labels apart.
double text_width(std::string_view utf8, double size = 11);

// From a dark purple over blue and green to a light yellow: lightness rises evenly, so the order survives grey scale
// and every kind of colour blindness. 0 <= t <= 1.
struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
  std::string hex() const;
  bool light() const;  // takes dark text
};
Colour colour_scale(double t);

// One axis: data to px. Log scales need 0 < low < high.
struct Scale {
  bool log = false;
  double low = 0, high = 1;  // data
  double from = 0, to = 1;   // px

  double at(double value) const;
};

// A scale over [low, high] with `margin` (share of the axis) on both ends; never empty. Log if asked for and possible.
Scale make_scale(double low, double high, bool log, double margin, double from, double to);

struct Tick {
  double value = 0;
  std::string label;     // "" for a minor tick
  std::string exponent;  // raised behind the label
};

// Ticks at round values, at most about `wanted` labels: 1-2-5 steps, on a log scale decades with minor ticks.
std::vector<Tick> ticks(const Scale& scale, int wanted);

// An axis along the bottom (labels below y = `at`) or the left (labels left of x = `at`, grid lines up to x =
// `grid_to`). A label that would touch the one before is left out.
void bottom_axis(Svg& svg, const Scale& scale, double at, const std::vector<Tick>& ticks);
void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks);

}  // namespace mokume::report
