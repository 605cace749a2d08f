// Scales, ticks, axes, and the box plots that stand on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/charts/svg.hpp"
#include "report/tables/stats.hpp"

namespace mokume::report {

// One axis: data to px. Log scales need 0 < low < high.
struct Scale {
  bool log = false;
  double low = 0, high = 1;  // data
  double from = 0, to = 1;   // px

  double at(double value) const;
  double middle() const { return (from + to) / 2; }
};

// A scale over [low, high] with `margin` (share of the axis) on both ends; never empty. Log if asked for and possible.
Scale make_scale(double low, double high, bool log, double margin, double from, double to);

// The same with a margin of 5 %, which does not reach below zero where no value does; [0, 1] if there are no values.
Scale value_scale(const Extent& extent, bool log, double from, double to);

struct Tick {
  double value = 0;
  std::string label = {};     // "" for a minor tick
  std::string exponent = {};  // raised after the label
};

// Ticks at round values, at most about `wanted` labels: 1-2-5 steps, on a log scale decades with minor ticks.
std::vector<Tick> ticks(const Scale& scale, int wanted);

// An axis along the bottom (labels below y = `at`) or the left (labels left of x = `at`), with grid lines up to
// `grid_to`. A label that would touch the one before is left out. A title of a bottom axis stands 40 px below it, that
// of a left one at the edge of the picture.
void bottom_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
                 std::string_view title);
void left_axis(Svg& svg, const Scale& scale, double at, double grid_to, const std::vector<Tick>& ticks,
               std::string_view title);

// The box of some values, with whiskers: `width` px wide around `centre`.
void draw_box(Svg& svg, const Box& box, const Scale& scale, double centre, double width, bool upright);
// The values themselves as points, spread over the width of their box. If there are many, only those outside of the
// whiskers are drawn.
void draw_points(Svg& svg, const std::vector<double>& values, const Scale& scale, double centre, double width,
                 bool upright);

}  // namespace mokume::report
