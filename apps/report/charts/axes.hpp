// Draws axes with scales and ticks, and box plots along them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/charts/svg.hpp"
#include "results/stats.hpp"

namespace mokume::report {

// Maps the values of one axis to px. A log scale needs 0 < low < high.
struct Scale {
  bool log = false;
  double low = 0, high = 1;  // data
  double from = 0, to = 1;   // px

  double at(double value) const;
  double middle() const { return (from + to) / 2; }
};

// Returns a non-empty scale over [low, high], extended at both ends by the share `margin` of its length. The scale is
// logarithmic if `log` is true and the values permit it.
Scale make_scale(double low, double high, bool log, double margin, double from, double to);

// Returns a scale with a margin of 5 %, which goes below zero only if a value does. Without values, it covers [0, 1].
Scale value_scale(const results::Extent& extent, bool log, double from, double to);

struct Tick {
  double value = 0;
  std::string label = {};     // "" for a minor tick
  std::string exponent = {};  // a superscript after the label
};

// Returns ticks at round values, and aims for at most `wanted` labels. Steps are 1, 2 or 5 times a power of ten; a long
// log scale has ticks at powers of ten, and minor ticks between them.
std::vector<Tick> ticks(const Scale& scale, int wanted);

// Draw an axis along the bottom (labels below y = `at`) or the left (labels to the left of x = `at`), with grid lines
// up to `grid_to`. Leave out a label that would touch the previous label. The title of a bottom axis is 40 px below it;
// the title of a left axis is at the edge of the picture, or to the left of its labels.
void bottom_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
                 std::string_view title);
void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
               std::string_view title);

// Draws a box with whiskers, `width` px wide around `centre`.
void draw_box(Svg& svg, const results::Box& box, const Scale& scale, double centre, double width, bool upright);
// Draws the values as points, spread over the width of their box. If there are many values, draws only those beyond the
// whiskers.
void draw_points(Svg& svg, const std::vector<double>& values, const Scale& scale, double centre, double width,
                 bool upright);

}  // namespace mokume::report
