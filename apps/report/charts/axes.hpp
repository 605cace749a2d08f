// Scales, ticks, axes, and box plots along them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/charts/svg.hpp"
#include "results/stats.hpp"

namespace mokume::report {

// One axis: maps data to px. Log scales need 0 < low < high.
struct Scale {
  bool log = false;
  double low = 0, high = 1;  // data
  double from = 0, to = 1;   // px

  double at(double value) const;
  double middle() const { return (from + to) / 2; }
};

// Returns a non-empty scale over [low, high] with `margin` (share of the axis) on both ends. Log if requested and
// possible.
Scale make_scale(double low, double high, bool log, double margin, double from, double to);

// The same with a margin of 5 %, which goes below zero only if a value does; [0, 1] if there are no values.
Scale value_scale(const results::Extent& extent, bool log, double from, double to);

struct Tick {
  double value = 0;
  std::string label = {};     // "" for a minor tick
  std::string exponent = {};  // a superscript after the label
};

// Returns ticks at round values, with about `wanted` labels at most: 1-2-5 steps, or on a log scale decades with minor
// ticks.
std::vector<Tick> ticks(const Scale& scale, int wanted);

// Draws an axis along the bottom (labels below y = `at`) or the left (labels left of x = `at`), with grid lines up to
// `grid_to`. A label that would touch the previous label is left out. The title of a bottom axis is 40 px below it; the
// title of a left axis is at the edge of the picture.
void bottom_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
                 std::string_view title);
void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
               std::string_view title);

// Draws a box with whiskers, `width` px wide around `centre`.
void draw_box(Svg& svg, const results::Box& box, const Scale& scale, double centre, double width, bool upright);
// Draws the values as points, spread over the width of their box. If there are many, only the points beyond the
// whiskers are drawn.
void draw_points(Svg& svg, const std::vector<double>& values, const Scale& scale, double centre, double width,
                 bool upright);

}  // namespace mokume::report
